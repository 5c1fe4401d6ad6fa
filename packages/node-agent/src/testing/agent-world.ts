import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeGrant, grantAnnotation, type ReadGrant } from "@virtkit/api/grant";
import { names as namesOf } from "@virtkit/api/names";
import type { VirtualMachineInstance, VirtualMachineInstanceStatus } from "@virtkit/api/schema";
import { entry, text } from "@virtkit/api/shape";
import type { SyncRequest } from "@virtkit/domain-manager";
import { defineResource, isNotFound, type KubeObject } from "@virtkit/kube";
import { LauncherError } from "@virtkit/launcher/client";
import { InProcessApiServer } from "@virtkit/testing/api-server";
import { type GuestScript, SimulatedGuest } from "@virtkit/testing/hypervisor";
import { SeededRandom, VirtualClock } from "@virtkit/testing/virtual-time";
import { NodeAgentError } from "../node-agent-error.ts";
import type { ProcessIdentity } from "../sandbox/process-identity.ts";
import {
  createNodeAgent,
  type NodeAgent,
  type NodeAgentOptions,
} from "../service/create-node-agent.ts";
import { podResource } from "../service/launcher-pods.ts";
import type { ContainerName, FoundLauncher, GuestClient, NodeHost } from "../service/node-host.ts";
import type { SeamHook } from "../service/seams.ts";
import {
  grantedTo,
  launcherPod,
  nodeObjects,
  scheduledVmi,
  startedPodStatus,
} from "./vmi-objects.ts";

const names = namesOf();
export const nodeName = "node01";
export const bootID = "boot-1";

/** VMIs. */
export const vmiResource = defineResource({
  ...{ group: "kubevirt.io", version: "v1" },
  ...{ plural: "virtualmachineinstances", kind: "VirtualMachineInstance" },
});

/** A launcher of the simulated node: a process, and a guest in it. */
export class WorldLauncher {
  readonly guest: SimulatedGuest;
  readonly process: ProcessIdentity;
  readonly container: ContainerName;
  readonly vmiUid: string;
  /** Its requests, in order. */
  readonly calls: string[] = [];
  hasEnded = false;
  /** Whether it answers: if not, it accepts no connection, and says nothing on those that it has. */
  answers = true;
  /** How often it was asked for a sign of life. */
  pings = 0;
  /** How often its guest was started. */
  starts = 0;
  isPrepared = false;
  /** Hotplugged volumes in its sandbox. */
  readonly plugged = new Set<string>();
  /** Hotplugged volumes that an agent has left half done. */
  readonly interrupted = new Set<string>();
  /** Volumes that are not in their attachment Pod. */
  readonly missing = new Set<string>();
  readonly #connections = new Set<AbortController>();
  readonly #dumps = new Map<string, Promise<void>>();

  constructor(
    guest: SimulatedGuest,
    container: ContainerName,
    process: ProcessIdentity,
    vmiUid: string,
  ) {
    this.guest = guest;
    this.container = container;
    this.process = process;
    this.vmiUid = vmiUid;
    void this.#end();
  }

  get isRunning(): boolean {
    return !this.hasEnded && this.#state === "Running";
  }

  #state = "Absent";

  /** It ends with its guest, as a launcher does. */
  async #end(): Promise<void> {
    for await (const event of this.guest.events()) {
      if (event.kind !== "status") continue;
      const before = this.#state;
      this.#state = event.status.state;
      if (this.#state === "Running" && before !== "Running" && before !== "Paused") this.starts++;
      if (before !== "Absent" && this.#state === "Absent") this.end();
    }
  }

  /** Its process ends, whatever happens to its guest. */
  end(): void {
    this.hasEnded = true;
    this.disconnect();
  }

  disconnect(): void {
    for (const connection of this.#connections) connection.abort();
    this.#connections.clear();
  }

  async connect(): Promise<GuestClient> {
    if (!this.answers || this.hasEnded)
      throw new LauncherError("LAUNCHER_CONNECT", "nobody answers");
    const ends = new AbortController();
    this.#connections.add(ends);
    const { guest, calls } = this;
    const call =
      <A extends unknown[], T>(name: string, work: (...args: A) => Promise<T>) =>
      async (...args: A): Promise<T> => {
        if (ends.signal.aborted) throw lost();
        calls.push(name);
        if (!this.answers) return await untilLost(ends.signal);
        return await work(...args);
      };
    return {
      syncVmi: call("syncVmi", (request, options) => guest.syncVmi(request, options)),
      shutdown: call("shutdown", (options) => guest.shutdown(options)),
      kill: call("kill", (options) => guest.kill(options)),
      delete: call("delete", (options) => guest.delete(options)),
      memoryDump: call("memoryDump", ({ path }, { signal } = {}) => {
        const waits = AbortSignal.any([ends.signal, ...(signal ? [signal] : [])]);
        return Promise.race([this.#dump(path), untilLost(waits)]);
      }),
      ping: async () => {
        this.pings++;
        if (!this.answers) await untilLost(ends.signal);
      },
      status: call("status", (options) => guest.status(options)),
      events: ({ signal } = {}) =>
        this.#sent(
          guest.events({ signal: AbortSignal.any([ends.signal, ...(signal ? [signal] : [])]) }),
          ends.signal,
        ),
      close: async () => ends.abort(),
    };
  }

  /** A job of the launcher: a request for the same file joins it, and nobody's departure ends it. */
  #dump(path: string): Promise<void> {
    const dump = this.#dumps.get(path) ?? this.guest.memoryDump({ path });
    this.#dumps.set(path, dump);
    return dump;
  }

  async *#sent<T>(events: AsyncIterable<T>, ends: AbortSignal): AsyncGenerator<T> {
    for await (const event of events) if (this.answers) yield event;
    if (ends.aborted) throw lost();
  }
}

function lost(): LauncherError {
  return new LauncherError("LAUNCHER_CLOSED", "the connection is lost");
}

async function untilLost(ends: AbortSignal): Promise<never> {
  return await new Promise((_, reject) => {
    ends.addEventListener("abort", () => reject(lost()), { once: true });
  });
}

/** An API server, a node with launchers, and the agents of that node, in virtual time. */
export class AgentWorld implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly random = new SeededRandom(7);
  readonly server = new InProcessApiServer({ clock: this.clock, random: this.random.fork() });
  readonly launchers = new Map<string, WorldLauncher>();
  stateDirectory = mkdtempSync(join(tmpdir(), "virtkit-agent-"));
  readonly #directories = [this.stateDirectory];
  #pids = 100;
  #running: AbortController | undefined;
  /** Pods whose clean-up fails. */
  readonly uncleanable = new Set<string>();
  /** Pods that were cleaned up. */
  readonly cleaned: string[] = [];

  constructor() {
    const identity = { machineID: "machine-1", bootID };
    for (const object of nodeObjects(nodeName, identity)) this.server.seedByKind(object as never);
  }

  get client() {
    return this.server.client("user");
  }

  /** An empty directory: the agent's memory is gone. */
  loseState(): void {
    this.stateDirectory = mkdtempSync(join(tmpdir(), "virtkit-agent-"));
    this.#directories.push(this.stateDirectory);
  }

  /** A VMI that a controller has handed to this node, with its Pod and its launcher. */
  async schedule(
    name: string,
    change: Partial<VirtualMachineInstance["spec"]> = {},
  ): Promise<WorldLauncher> {
    const created = await this.client.create(vmiResource, scheduledVmi(name, nodeName, change));
    const vmiUid = text(created.metadata.uid);
    const launcher = await this.startPod(name, vmiUid);
    const annotations = grantedTo(vmiUid, launcher.container.podUid);
    await this.change(name, (vmi) => ({ ...vmi, metadata: { ...vmi.metadata, annotations } }));
    return launcher;
  }

  async startPod(
    name: string,
    vmiUid: string,
    podName = `virt-launcher-${name}`,
  ): Promise<WorldLauncher> {
    const made = launcherPod(podName, nodeName, { name, uid: vmiUid });
    const pod = await this.client.create(podResource, made);
    return await this.startContainer(podName, name, vmiUid, text(pod.metadata.uid));
  }

  /** What guests of launchers that are started from now on do. */
  script: GuestScript = { agent: 5_000, shutdown: 2_000 };

  /** The kubelet starts or restarts the launcher's container. */
  async startContainer(
    podName: string,
    name: string,
    vmiUid: string,
    podUid: string,
  ): Promise<WorldLauncher> {
    const pid = this.#pids++;
    const containerID = `containerd://${pid.toString(16).padStart(64, "0")}`;
    const identity = { namespace: "default", name, vmiUid, podUid };
    const guest = new SimulatedGuest({
      identity,
      clock: this.clock,
      random: this.random.fork(),
      script: this.script,
    });
    const process = { pid, startTime: String(pid), bootId: bootID };
    const launcher = new WorldLauncher(guest, { podUid, containerID }, process, vmiUid);
    this.launchers.set(containerID, launcher);
    const status = startedPodStatus(containerID);
    const place = { namespace: "default", name: podName };
    await this.client.patch(
      podResource,
      place,
      { type: "merge", body: { status } },
      { subresource: "status" },
    );
    return launcher;
  }

  get host(): NodeHost {
    const { launchers, cleaned } = this;
    return {
      find: (container) => {
        const launcher = launchers.get(container.containerID);
        return launcher && !launcher.hasEnded ? found(launcher) : undefined;
      },
      hasEnded: ({ pid }) =>
        [...launchers.values()].every((each) => each.process.pid !== pid || each.hasEnded),
      cleanUp: async (podUid) => {
        if (this.uncleanable.has(podUid)) throw new Error(`Pod ${podUid} cannot be cleaned up`);
        cleaned.push(podUid);
      },
    };
  }

  /** Starts an agent. It ends with {@link kill} or {@link stop}. */
  start(seam?: SeamHook, options: Partial<NodeAgentOptions> = {}): NodeAgent {
    const stop = new AbortController();
    this.#running = stop;
    const agent = createNodeAgent({
      ...{ client: this.server.client("agent"), nodeName, stateDirectory: this.stateDirectory },
      ...{ host: this.host, identity: { machineID: "machine-1", bootID } },
      ...{ clock: this.clock, random: this.random.fork(), wall: () => this.server.date() },
      lock: () => ({ [Symbol.dispose]: () => {} }),
      ...(seam ? { seam } : {}),
      ...options,
    });
    void agent.run({ signal: stop.signal }).catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
    return agent;
  }

  /** What is left of an agent that was killed: nothing, except for what the kernel closes. */
  stop(): void {
    this.#running?.abort();
    this.#running = undefined;
    for (const launcher of this.launchers.values()) launcher.disconnect();
  }

  async vmi(name: string): Promise<(VirtualMachineInstance & KubeObject) | undefined> {
    try {
      return (await this.client.get(vmiResource, {
        namespace: "default",
        name,
      })) as VirtualMachineInstance & KubeObject;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async grant(name: string): Promise<ReadGrant> {
    const vmi = await this.vmi(name);
    return decodeGrant(
      entry(vmi?.metadata.annotations, names.own(grantAnnotation)),
      text(vmi?.metadata.uid),
    );
  }

  async change(name: string, edit: (vmi: KubeObject) => object): Promise<void> {
    const vmi = await this.client.get(vmiResource, { namespace: "default", name });
    await this.client.update(vmiResource, edit(vmi) as KubeObject);
  }

  async changeStatus(
    name: string,
    edit: (status: VirtualMachineInstanceStatus) => VirtualMachineInstanceStatus,
  ): Promise<void> {
    const vmi = await this.client.get(vmiResource, { namespace: "default", name });
    const status = edit((vmi as VirtualMachineInstance).status ?? {});
    const changed = { ...vmi, status } as KubeObject;
    await this.client.update(vmiResource, changed, { subresource: "status" });
  }

  async delete(name: string): Promise<void> {
    await this.client.delete(vmiResource, { namespace: "default", name });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    for (const { guest } of this.launchers.values()) guest[Symbol.dispose]();
    for (const directory of this.#directories) rmSync(directory, { recursive: true, force: true });
  }
}

function found(launcher: WorldLauncher): FoundLauncher {
  return {
    process: launcher.process,
    hasEnded: () => launcher.hasEnded,
    connect: () => launcher.connect(),
    prepare: async (vmi) => {
      launcher.isPrepared = true;
      return { vmi, context: {} } as unknown as Omit<SyncRequest, "mayRun">;
    },
    fileSizes: () => ({}),
    selinuxContext: "none",
    pluggedVolumes: () => [...launcher.plugged],
    interruptedVolumes: () => [...launcher.interrupted],
    plugVolume: async ({ volume }, { containerID }) => {
      if (launcher.missing.has(volume)) {
        throw new NodeAgentError("AGENT_VOLUME_MISSING", `${volume} is not in ${containerID}`);
      }
      launcher.plugged.add(volume);
    },
    unplugVolume: async (volume) => {
      launcher.plugged.delete(volume);
      launcher.interrupted.delete(volume);
    },
    [Symbol.dispose]: () => {},
  };
}
