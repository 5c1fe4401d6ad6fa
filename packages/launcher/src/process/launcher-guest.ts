import { wallTime } from "@virtkit/api/clock";
import type {
  DomainStats,
  DomainStatus,
  ExecResult,
  GuestControl,
  GuestEnd,
  GuestEndFacts,
  GuestEvent,
  GuestFileSystem,
  GuestUser,
  MayRun,
  Screenshot,
  SyncRequest,
} from "@virtkit/domain-manager";
import { DomainManagerError, isOff } from "@virtkit/domain-manager";
import type { CallOptions } from "@virtkit/domain-manager/libvirt";
import type { GuestProbes } from "../probes/guest-probes.ts";
import { EventBroadcast } from "./event-broadcast.ts";
import { MemoryDumps } from "./memory-dumps.ts";

/** What a launcher needs besides the guest's control. */
export interface LauncherGuestOptions {
  /** UID of the VMI that the launcher was started for. */
  readonly uid: string;
  readonly now?: () => Date;
  /** The probes that the launcher runs itself. */
  readonly probes?: GuestProbes | undefined;
}

/**
 * A guest as its launcher serves it: the domain manager's, limited to one VMI, plus what only the
 * launcher knows: that it has been told to end. A memory dump outlives its caller; see {@link MemoryDumps}.
 */
export class LauncherGuest implements GuestControl {
  readonly #control: GuestControl;
  readonly #uid: string;
  readonly #now: () => Date;
  readonly #probes: GuestProbes | undefined;
  readonly #dumps: MemoryDumps;
  readonly #extra = new EventBroadcast<GuestEvent>();
  #shutdownRequestedAt: string | undefined;
  #syncs = 0;
  #syncsBegun = 0;
  #told: GuestEndFacts["told"];
  #panic: string | undefined;
  #lastWords: DomainStatus | undefined;
  #end: GuestEnd | undefined;
  #deleted: (() => void) | undefined;
  /** Resolves when somebody has deleted the ended guest. */
  readonly deleted: Promise<void>;

  constructor(control: GuestControl, { uid, now = wallTime, probes }: LauncherGuestOptions) {
    this.#control = control;
    this.#uid = uid;
    this.#now = now;
    this.#probes = probes;
    this.#dumps = new MemoryDumps((path) => control.memoryDump({ path }));
    this.deleted = new Promise((resolve) => {
      this.#deleted = resolve;
    });
  }

  /** Whether the guest is being started or changed. */
  get isSyncing(): boolean {
    return this.#syncs > 0;
  }

  /** How often the guest was to be started or changed, regardless of the outcome. */
  get syncsBegun(): number {
    return this.#syncsBegun;
  }

  /**
   * What is known about the guest's end: what it was told, whether it panicked, and libvirt's last
   * report.
   */
  get endFacts(): Pick<GuestEndFacts, "told" | "panic"> & { readonly lastWords?: DomainStatus } {
    const lastWords = this.#lastWords;
    return { told: this.#told, panic: this.#panic, ...(lastWords ? { lastWords } : {}) };
  }

  /** Puts the guest's end into every status from now on. */
  noteEnd(end: GuestEnd): void {
    this.#end = end;
  }

  /**
   * Records that the launcher was told to end, and tells all subscribers. Does nothing the second
   * time.
   */
  async markShutdown(): Promise<void> {
    if (this.#shutdownRequestedAt !== undefined) return;
    this.#shutdownRequestedAt = this.#now().toISOString();
    this.announce(await this.status());
  }

  /**
   * Sends all subscribers a status that the domain manager's own events may not have brought yet.
   */
  announce(status: DomainStatus): void {
    const at = this.#now().toISOString();
    this.#extra.push({ at, kind: "status", status: this.#marked(status) });
  }

  async syncVmi(request: SyncRequest, options?: CallOptions): Promise<DomainStatus> {
    const uid = request.vmi.metadata?.uid;
    if (uid !== this.#uid) {
      const text = `vmi.metadata.uid: found ${JSON.stringify(uid)?.slice(0, 80) ?? "nothing"}, but this launcher is for ${this.#uid}`;
      throw new DomainManagerError("DOMAIN_NOT_GRANTED", text, { path: "vmi.metadata.uid" });
    }
    if (this.#shutdownRequestedAt !== undefined) {
      const text = "the launcher is shutting down; it no longer starts or changes guests";
      throw new DomainManagerError("DOMAIN_STATE", text, { path: "syncVmi" });
    }
    this.#syncs++;
    this.#syncsBegun++;
    try {
      await this.#probes?.plan(request.vmi);
      const status = await this.#control.syncVmi(request, options);
      this.#probes?.start(this.#control, () => void this.#announceNow());
      return this.#marked(status);
    } finally {
      this.#syncs--;
    }
  }

  async status(options?: CallOptions): Promise<DomainStatus> {
    return this.#marked(await this.#control.status(options));
  }

  async *events(options: { readonly signal?: AbortSignal } = {}): AsyncIterable<GuestEvent> {
    for await (const event of this.#extra.join(this.#control.events(options), options.signal)) {
      // Whether a guest with a readiness probe is ready is what the probe says.
      if (event.kind === "stage" && event.stage === "ready" && this.#probes?.status?.readiness)
        continue;
      if (event.kind === "incident" && event.reason === "GuestPanicked") {
        this.#panic = event.message;
      }
      yield event.kind === "status" ? { ...event, status: this.#marked(event.status) } : event;
    }
  }

  async delete(options?: CallOptions): Promise<void> {
    await this.#control.delete(options);
    this.#deleted?.();
  }

  async pause(options?: CallOptions): Promise<void> {
    await this.#control.pause(options);
  }

  async unpause(mayRun: MayRun, options?: CallOptions): Promise<void> {
    await this.#control.unpause(mayRun, options);
  }

  async shutdown(options?: CallOptions): Promise<void> {
    this.#told ??= "shutdown";
    await this.#control.shutdown(options);
  }

  async kill(options?: CallOptions): Promise<void> {
    if (this.#told !== "kill") this.#told = this.#told ? "kill-after-grace" : "kill";
    await this.#control.kill(options);
  }

  async softReboot(options?: CallOptions): Promise<void> {
    await this.#control.softReboot(options);
  }

  async reset(options?: CallOptions): Promise<void> {
    await this.#control.reset(options);
  }

  async freeze(
    request: { readonly unfreezeAfterSeconds: number },
    options?: CallOptions,
  ): Promise<void> {
    await this.#control.freeze(request, options);
  }

  async unfreeze(options?: CallOptions): Promise<void> {
    await this.#control.unfreeze(options);
  }

  async exec(
    request: Parameters<GuestControl["exec"]>[0],
    options?: CallOptions,
  ): Promise<ExecResult> {
    return await this.#control.exec(request, options);
  }

  async guestPing(
    request: { readonly timeoutSeconds: number },
    options?: CallOptions,
  ): Promise<void> {
    await this.#control.guestPing(request, options);
  }

  async users(options?: CallOptions): Promise<readonly GuestUser[]> {
    return await this.#control.users(options);
  }

  async fileSystems(options?: CallOptions): Promise<readonly GuestFileSystem[]> {
    return await this.#control.fileSystems(options);
  }

  async stats(options?: CallOptions): Promise<DomainStats> {
    return await this.#control.stats(options);
  }

  async screenshot(options?: CallOptions): Promise<Screenshot> {
    return await this.#control.screenshot(options);
  }

  async memoryDump(request: { readonly path: string }, options?: CallOptions): Promise<void> {
    await this.#dumps.dump(request.path, options?.signal);
  }

  #marked(status: DomainStatus): DomainStatus {
    if (status.state !== "Absent") this.#lastWords = isOff(status) ? status : undefined;
    const probes = this.#probes?.status;
    const at = this.#shutdownRequestedAt;
    const end = this.#end;
    return {
      ...status,
      ...(at === undefined ? {} : { shutdownRequestedAt: at }),
      ...(end === undefined ? {} : { end }),
      ...(probes ? { probes } : {}),
    };
  }

  async #announceNow(): Promise<void> {
    // If the status is unavailable, the next one says it.
    await this.status().then(
      (status) => this.announce(status),
      () => {},
    );
  }
}
