import { realClock } from "@virtkit/api/clock";
import { names as wellKnownNames } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { GuestAgent } from "../agent/guest-agent.ts";
import { qemuAccessAgent } from "../disks/access/qemu-access-agent.ts";
import { DiskPaths } from "../disks/disk-paths.ts";
import { readSecrets } from "../disks/files/read-secrets.ts";
import type { DomainRef } from "../libvirt/event-hub.ts";
import type { Libvirt } from "../libvirt/libvirt.ts";
import type { CallOptions } from "../libvirt/rpc/pending-call.ts";
import type { DomainStatus } from "../status/domain-status.ts";
import type { DomainWatcher } from "../status/domain-watcher.ts";
import type { GuestEvent } from "../status/guest-event.ts";
import { AccessWatch } from "./access-watch.ts";
import type { DomainManagerOptions } from "./domain-manager-options.ts";
import { FreezeGuard } from "./freeze-guard.ts";
import { GuestClock } from "./guest-clock.ts";
import type {
  DomainStats,
  ExecResult,
  GuestControl,
  GuestFileSystem,
  GuestUser,
  Screenshot,
  SyncRequest,
} from "./guest-control.ts";
import { domainName, findDomain } from "./guest-domain.ts";
import { isSilentButWell } from "./guest-ping.ts";
import { readStats, takeScreenshot } from "./guest-reads.ts";
import type { GuestSession } from "./guest-session.ts";
import type { MayRun } from "./may-run.ts";
import { dumpMemory, requireDumpPath } from "./memory-dump.ts";
import { nodeTopology } from "./node-topology.ts";
import {
  deleteGuest,
  killGuest,
  pauseGuest,
  rebootGuest,
  requireActive,
  resetGuest,
  shutDownGuest,
  unpauseGuest,
} from "./power-verbs.ts";
import { RunRight } from "./run-right.ts";
import { syncGuest } from "./sync-guest.ts";
import { type VerbCall, VerbQueue } from "./verb-queue.ts";

/** Milliseconds: KubeVirt's deadlines. A dump writes all of a guest's memory. */
const deadlines = { read: 5_000, verb: 20_000, freeze: 60_000, dump: 600_000 };
const agentMargin = 5_000;
const execSeconds = 10;

/**
 * Carries out the verbs of one guest on libvirt; see {@link GuestControl}; created by
 * `createDomainManager`. Verbs that change something run one at a time; reads run beside them;
 * `kill` goes first and ends what is in progress. The truth is read from libvirt each time, so a
 * manager can be discarded and created again at any moment.
 *
 * Rejects only with `DomainManagerError`.
 */
export class DomainManager implements GuestControl, AsyncDisposable {
  readonly #session: GuestSession & { readonly libvirt: Libvirt };
  readonly #agentLibvirt: Libvirt;
  readonly #queue: VerbQueue;
  readonly #watcher: DomainWatcher;
  readonly #freezeGuard: FreezeGuard;
  readonly #guestClock: GuestClock;
  readonly #access: AccessWatch;
  #agentProbesPaused = false;

  /** @internal */
  constructor(
    { libvirt, identity, names = wellKnownNames(), ...options }: DomainManagerOptions,
    watcher: DomainWatcher,
  ) {
    const {
      agentLibvirt = libvirt,
      clock = realClock,
      topology = nodeTopology(),
      onStage,
    } = options;
    this.#session = {
      libvirt,
      identity,
      names,
      clock,
      topology,
      name: domainName(identity),
      right: new RunRight(identity),
      owner: options.disks?.owner,
      report: (report) => {
        onStage?.(report);
        watcher.tell({ kind: "stage", ...report });
      },
    };
    this.#agentLibvirt = agentLibvirt;
    this.#queue = new VerbQueue(clock);
    this.#watcher = watcher;
    this.#freezeGuard = new FreezeGuard(clock, async () => await this.unfreeze(), options);
    this.#guestClock = new GuestClock(clock, undefined, options.log);
    this.#access = new AccessWatch({
      clock,
      readSecrets: async (wanted) =>
        await readSecrets(new DiskPaths(names.directories).secrets, wanted),
      agent: async () => qemuAccessAgent(await this.#agent(new AbortController().signal)),
      onResult: ({ succeeded: synced, message }) =>
        watcher.learn({ kind: "access", synced, ...(message ? { message } : {}) }),
    });
  }

  async syncVmi(request: SyncRequest, options?: CallOptions): Promise<DomainStatus> {
    return await this.#change("syncVmi", options, async (call) => {
      const pending = await syncGuest(this.#session, request, call);
      this.#remember(request.vmi);
      const status = await this.#watcher.refresh({ signal: call.signal });
      return pending.length > 0 ? { ...status, pending } : status;
    });
  }

  async pause(options?: CallOptions): Promise<void> {
    await this.#change("pause", options, async (call) => await pauseGuest(this.#session, call));
  }

  async unpause(mayRun: MayRun, options?: CallOptions): Promise<void> {
    await this.#change("unpause", options, async (call) => {
      const resumed = await unpauseGuest(this.#session, mayRun, call);
      if (resumed) this.#guestClock.set(this.#agentOf(resumed.dom));
    });
  }

  async shutdown(options?: CallOptions): Promise<void> {
    // It only asks, so it does not wait: a guest with little time is asked at once.
    await this.#read("shutdown", deadlines.verb, options, async (call) => {
      await shutDownGuest(this.#session, (dom) => this.#agentOf(dom), call);
    });
  }

  async kill(options?: CallOptions): Promise<void> {
    const work = async (call: VerbCall): Promise<void> => await killGuest(this.#session, call);
    await this.#queue.run({ name: "kill", timeout: deadlines.verb, options, urgent: true, work });
    this.#stopHelpers();
  }

  async delete(options?: CallOptions): Promise<void> {
    await this.#change("delete", options, async (call) => {
      await deleteGuest(this.#session, call);
      this.#stopHelpers();
    });
  }

  async softReboot(options?: CallOptions): Promise<void> {
    await this.#change("softReboot", options, async (call) => {
      await rebootGuest(this.#session, (dom) => this.#agentOf(dom), call);
    });
  }

  async reset(options?: CallOptions): Promise<void> {
    await this.#change("reset", options, async (call) => await resetGuest(this.#session, call));
  }

  async freeze(
    { unfreezeAfterSeconds }: { readonly unfreezeAfterSeconds: number },
    options?: CallOptions,
  ): Promise<void> {
    const work = async ({ signal }: VerbCall): Promise<void> =>
      await this.#freezeGuard.freeze(await this.#agent(signal), unfreezeAfterSeconds, { signal });
    await this.#queue.run({ name: "freeze", timeout: deadlines.freeze, options, work });
  }

  async unfreeze(options?: CallOptions): Promise<void> {
    const work = async ({ signal }: VerbCall): Promise<void> =>
      await this.#freezeGuard.unfreeze(await this.#agent(signal), { signal });
    await this.#queue.run({ name: "unfreeze", timeout: deadlines.freeze, options, work });
  }

  async exec(
    { command, args = [], timeoutSeconds = execSeconds }: Parameters<GuestControl["exec"]>[0],
    options?: CallOptions,
  ): Promise<ExecResult> {
    const timeout = timeoutSeconds * 1000;
    return await this.#read("exec", timeout + agentMargin, options, async ({ signal }) => {
      return await (await this.#agent(signal)).exec(command, { args, timeout, signal });
    });
  }

  async guestPing(
    { timeoutSeconds }: { readonly timeoutSeconds: number },
    options?: CallOptions,
  ): Promise<void> {
    if (this.#agentProbesPaused) return;
    const timeout = timeoutSeconds * 1000;
    await this.#read("guestPing", timeout + agentMargin, options, async ({ signal }) => {
      const { libvirt, name } = this.#session;
      const found = await findDomain(libvirt, name, { signal });
      if (isSilentButWell(found) || !found) return;
      await this.#agentOf(found.dom).ping({ signal, timeout });
    });
  }

  async users(options?: CallOptions): Promise<readonly GuestUser[]> {
    return await this.#read("users", deadlines.read, options, async ({ signal }) => {
      return await (await this.#agent(signal)).users({ signal });
    });
  }

  async fileSystems(options?: CallOptions): Promise<readonly GuestFileSystem[]> {
    return await this.#read("fileSystems", deadlines.read, options, async ({ signal }) => {
      return await (await this.#agent(signal)).fileSystems({ signal });
    });
  }

  async stats(options?: CallOptions): Promise<DomainStats> {
    return await this.#read("stats", deadlines.read, options, async (call) => {
      const { dom } = await requireActive(this.#session, call);
      return await readStats(this.#session.libvirt, dom, { signal: call.signal });
    });
  }

  async screenshot(options?: CallOptions): Promise<Screenshot> {
    return await this.#read("screenshot", deadlines.read, options, async (call) => {
      const { dom } = await requireActive(this.#session, call);
      return await takeScreenshot(this.#session.libvirt, dom, call);
    });
  }

  async memoryDump({ path }: { readonly path: string }, options?: CallOptions): Promise<void> {
    const to = requireDumpPath(path);
    const work = async (call: VerbCall): Promise<void> => {
      const { dom } = await requireActive(this.#session, call);
      await dumpMemory(this.#session.libvirt, dom, to, call);
    };
    await this.#queue.run({ name: "memoryDump", timeout: deadlines.dump, options, work });
  }

  async status(options?: CallOptions): Promise<DomainStatus> {
    return await this.#read("status", deadlines.read, options, async ({ signal }) => {
      return await this.#watcher.refresh({ signal });
    });
  }

  events(options?: { readonly signal?: AbortSignal }): AsyncIterable<GuestEvent> {
    return this.#watcher.events(options);
  }

  /**
   * Records in the status, as an ISO date, that the launcher was told to end: its guest is to be
   * shut down.
   */
  announceShutdown(at: string): void {
    this.#watcher.learn({ kind: "shutdownRequested", at });
  }

  /** Ends background work: events and timers. The guest keeps running. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopHelpers();
    await this.#watcher[Symbol.asyncDispose]();
  }

  /** What later verbs need from the VMI. */
  #remember(vmi: VirtualMachineInstance): void {
    const { annotations } = this.#session.names;
    const value = vmi.metadata?.annotations?.[annotations.pauseGuestAgentProbes] ?? "";
    this.#agentProbesPaused = ["1", "t", "T", "true", "TRUE", "True"].includes(value);
    this.#access.follow(vmi);
  }

  #stopHelpers(): void {
    this.#access.stop();
    this.#guestClock.stop();
    this.#freezeGuard.cancel();
  }

  async #agent(signal: AbortSignal): Promise<GuestAgent> {
    return this.#agentOf((await requireActive(this.#session, { signal })).dom);
  }

  #agentOf(dom: DomainRef): GuestAgent {
    const { clock } = this.#session;
    return new GuestAgent({ libvirt: this.#agentLibvirt, dom, clock });
  }

  async #change<T>(
    name: string,
    options: CallOptions | undefined,
    work: (call: VerbCall) => Promise<T>,
  ): Promise<T> {
    return await this.#queue.run({ name, timeout: deadlines.verb, options, work });
  }

  async #read<T>(
    name: string,
    timeout: number,
    options: CallOptions | undefined,
    work: (call: VerbCall) => Promise<T>,
  ): Promise<T> {
    return await this.#queue.beside({ name, timeout, options, work });
  }
}
