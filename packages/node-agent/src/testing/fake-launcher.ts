import { rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import type { Stage } from "@virtkit/api/timeline";
import {
  DomainManagerError,
  type DomainStatus,
  type GuestControl,
  type GuestEvent,
  type SyncRequest,
} from "@virtkit/domain-manager";
import {
  listenUnix,
  receiveDescriptors,
  sendDescriptors,
  whenReadable,
} from "@virtkit/host-primitives/sockets";
import type { PodFixture } from "@virtkit/lab";
import { serveConnection } from "@virtkit/launcher/channel";

/** A launcher that answers in a Pod and has a guest that is only a state. */
export type FakeLauncher = AsyncDisposable & {
  /** Verbs that were requested. */
  readonly calls: string[];
  readonly requests: SyncRequest[];
  /** Networks and kinds of the sockets that were handed over. */
  readonly handedOver: { network: string; sockets: readonly string[]; identity: unknown }[];
  /** Whether the guest shuts down when it is asked to. */
  obeys: boolean;
  /** The stage at which a start fails, if it does. */
  failsAt?: "domain-defined" | "guest-running";
  become(change: Partial<DomainStatus>): void;
  /** Ends every connection. */
  disconnect(): void;
};

/** Listens in the Pod, from this process: on the same sockets, through the root of its first process. */
export async function startFakeLauncher(pod: PodFixture, vmiUid: string): Promise<FakeLauncher> {
  const folder = `/proc/${pod.pid}/root/run/kubevirt/sockets`;
  const readers = new Set<(event: GuestEvent) => void>();
  const sockets = new Set<Socket>();
  const calls: string[] = [];
  const requests: SyncRequest[] = [];
  const handedOver: FakeLauncher["handedOver"] = [];
  let status: DomainStatus = {
    name: "default_vm",
    state: "Absent",
    reason: "Unknown",
    agent: "disconnected",
    interfaces: [],
    disks: [],
  };
  const become = (change: Partial<DomainStatus>): void => {
    status = { ...status, ...change };
    for (const tell of readers) tell(statusEvent(status));
  };
  const fail = (stage: Stage): Error => {
    const message = `no ${stage} today`;
    const at = new Date().toISOString();
    for (const tell of readers) tell({ at, kind: "stage", stage, state: "failed", message });
    return new DomainManagerError("DOMAIN_LIBVIRT", message);
  };
  const control = {
    async syncVmi(request: SyncRequest) {
      calls.push("syncVmi");
      requests.push(request);
      if (launcher.failsAt) throw fail(launcher.failsAt);
      if (status.state === "Absent") become({ state: "Running" });
      return status;
    },
    async shutdown() {
      calls.push("shutdown");
      if (launcher.obeys) become({ state: "Shutoff", reason: "Shutdown" });
    },
    async kill() {
      calls.push("kill");
      become({ state: "Shutoff", reason: "Destroyed" });
    },
    async delete() {
      calls.push("delete");
      become({ state: "Absent" });
    },
    status: async () => status,
    async *events({ signal }: { signal?: AbortSignal } = {}): AsyncGenerator<GuestEvent> {
      const waiting: GuestEvent[] = [statusEvent(status)];
      let wake = (): void => {};
      const tell = (event: GuestEvent): void => {
        waiting.push(event);
        wake();
      };
      readers.add(tell);
      signal?.addEventListener("abort", () => wake());
      while (!signal?.aborted) {
        yield* waiting.splice(0);
        if (waiting.length > 0) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      readers.delete(tell);
    },
  } satisfies Partial<GuestControl> as unknown as GuestControl;
  const info = () => ({
    versions: [1],
    software: "test",
    vmi: { name: "vm", namespace: "default", uid: vmiUid },
    verbs: [],
    servedNetworks: handedOver.map(({ network }) => network),
  });
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    serveConnection(socket, { control, info });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(`${folder}/launcher-sock`, resolve);
  });
  const handover = listenUnix(`${folder}/launcher-handover-sock`, { type: "sequential" });
  const taking = takeHandovers(handover.connections(), handedOver);
  const launcher: FakeLauncher = {
    calls,
    requests,
    handedOver,
    obeys: true,
    become,
    disconnect() {
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      handover.close();
      await taking;
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(`${folder}/launcher-handover-sock`, { force: true });
    },
  };
  return launcher;
}

async function takeHandovers(
  connections: ReturnType<ReturnType<typeof listenUnix>["connections"]>,
  taken: FakeLauncher["handedOver"],
): Promise<void> {
  for await (const connection of connections) {
    try {
      for await (const _ of whenReadable(connection, { signal: AbortSignal.timeout(10_000) })) {
        const { data, descriptors } = receiveDescriptors(connection, { maxBytes: 65_536 });
        if (data.length === 0) break;
        for (const descriptor of descriptors) descriptor.close();
        const { network, sockets, identity } = JSON.parse(data.toString());
        taken.push({ network, sockets, identity });
        sendDescriptors(connection, Buffer.from('{"success":true}'), []);
      }
    } finally {
      connection.close();
    }
  }
}

function statusEvent(status: DomainStatus): GuestEvent {
  return { at: new Date().toISOString(), kind: "status", status };
}
