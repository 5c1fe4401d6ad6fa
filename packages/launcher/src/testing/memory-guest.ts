import {
  DomainManagerError,
  type DomainStats,
  type DomainStatus,
  type ExecResult,
  type GuestControl,
  type GuestEvent,
  type GuestFileSystem,
  type GuestUser,
  type MayRun,
  type Screenshot,
  type SyncRequest,
} from "@virtkit/domain-manager";
import type { CallOptions } from "@virtkit/domain-manager/libvirt";

/**
 * A guest that is only a state, for tests that do not need a real one. Records what it is asked.
 */
export class MemoryGuest implements GuestControl {
  readonly calls: { readonly verb: string; readonly args: unknown }[] = [];
  /** Whether a guest that is asked to shut down does. */
  obeys = true;
  /** Where a verb waits or fails. */
  before: (verb: string, options: CallOptions | undefined) => Promise<void> = async () => {};
  picture: Uint8Array = new Uint8Array([1, 2, 3]);
  readonly #readers = new Set<(event: GuestEvent) => void>();
  #status: DomainStatus = {
    name: "default_demo",
    state: "Absent",
    reason: "Unknown",
    agent: "disconnected",
    interfaces: [],
    disks: [],
  };

  /** Streams that are being read. */
  get readers(): number {
    return this.#readers.size;
  }

  /** Changes the status and notifies every reader. */
  become(change: Partial<DomainStatus>): void {
    this.#status = { ...this.#status, ...change };
    this.tell({ at: at(), kind: "status", status: this.#status });
  }

  tell(event: GuestEvent): void {
    for (const read of this.#readers) read(event);
  }

  async #note(verb: string, args: unknown, options: CallOptions | undefined): Promise<void> {
    this.calls.push({ verb, args });
    await this.before(verb, options);
  }

  async syncVmi(request: SyncRequest, options?: CallOptions): Promise<DomainStatus> {
    await this.#note("syncVmi", { ...request, mayRun: request.mayRun.grant }, options);
    if (this.#status.state === "Absent") this.become({ state: "Running", reason: "Unknown" });
    return this.#status;
  }

  async pause(options?: CallOptions): Promise<void> {
    await this.#note("pause", undefined, options);
    if (this.#status.state !== "Running") {
      const text = `the guest is ${this.#status.state}; only a running one can be paused`;
      throw new DomainManagerError("DOMAIN_STATE", text, { path: "pause" });
    }
    this.become({ state: "Paused", reason: "User" });
  }

  async unpause(mayRun: MayRun, options?: CallOptions): Promise<void> {
    await this.#note("unpause", mayRun.grant, options);
    this.become({ state: "Running", reason: "Unknown" });
  }

  async shutdown(options?: CallOptions): Promise<void> {
    await this.#note("shutdown", undefined, options);
    if (this.obeys) this.become({ state: "Shutoff", reason: "Shutdown" });
  }

  async kill(options?: CallOptions): Promise<void> {
    await this.#note("kill", undefined, options);
    this.become({ state: "Shutoff", reason: "Destroyed" });
  }

  async delete(options?: CallOptions): Promise<void> {
    await this.#note("delete", undefined, options);
    this.become({ state: "Absent", reason: "Unknown" });
  }

  async softReboot(options?: CallOptions): Promise<void> {
    await this.#note("softReboot", undefined, options);
  }

  async reset(options?: CallOptions): Promise<void> {
    await this.#note("reset", undefined, options);
  }

  async freeze(request: object, options?: CallOptions): Promise<void> {
    await this.#note("freeze", request, options);
  }

  async unfreeze(options?: CallOptions): Promise<void> {
    await this.#note("unfreeze", undefined, options);
  }

  async exec(request: object, options?: CallOptions): Promise<ExecResult> {
    await this.#note("exec", request, options);
    return { exitCode: 0, stdout: "any\0thing", stderr: "" };
  }

  async guestPing(request: object, options?: CallOptions): Promise<void> {
    await this.#note("guestPing", request, options);
  }

  async users(options?: CallOptions): Promise<readonly GuestUser[]> {
    await this.#note("users", undefined, options);
    return [{ userName: "root", loginTime: 1_700_000_000.5 }];
  }

  async fileSystems(options?: CallOptions): Promise<readonly GuestFileSystem[]> {
    await this.#note("fileSystems", undefined, options);
    return [
      {
        diskName: "vda",
        mountPoint: "/",
        fileSystemType: "ext4",
        usedBytes: 1,
        totalBytes: 2,
        disks: [{ busType: "virtio", serial: "s" }],
      },
    ];
  }

  async stats(options?: CallOptions): Promise<DomainStats> {
    await this.#note("stats", undefined, options);
    return { "cpu.time": 5, "net.0.name": "tap0", "state.odd": false };
  }

  async screenshot(options?: CallOptions): Promise<Screenshot> {
    await this.#note("screenshot", undefined, options);
    return { mime: "image/png", data: this.picture };
  }

  async memoryDump(request: object, options?: CallOptions): Promise<void> {
    await this.#note("memoryDump", request, options);
  }

  async status(options?: CallOptions): Promise<DomainStatus> {
    await this.#note("status", undefined, options);
    return this.#status;
  }

  async *events({ signal }: { readonly signal?: AbortSignal } = {}): AsyncIterable<GuestEvent> {
    const items: GuestEvent[] = [{ at: at(), kind: "status", status: this.#status }];
    let wake = (): void => {};
    const read = (event: GuestEvent): void => {
      items.push(event);
      wake();
    };
    signal?.addEventListener("abort", () => wake());
    this.#readers.add(read);
    try {
      while (!signal?.aborted) {
        yield* items.splice(0);
        if (items.length > 0 || signal?.aborted) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      this.#readers.delete(read);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#readers.clear();
  }
}

/** The moment of everything: tests compare what they get. */
function at(): string {
  return "2030-01-01T00:00:00.000Z";
}
