import { type Clock, sleep } from "@virtkit/api/clock";
import { describeError, type Log } from "@virtkit/api/observe";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { DomainStatus, MayRun, SyncRequest } from "@virtkit/domain-manager";
import type { KubeObject } from "@virtkit/kube";
import { Pace } from "../pace.ts";
import type { LauncherView, PassMemory } from "../plan/index.ts";
import { boundedDomain } from "./bounded-domain.ts";
import type { GuestRecord } from "./guest-record.ts";
import type { FoundLauncher, GuestClient } from "./node-host.ts";
import { RequestedDump } from "./requested-dump.ts";
import type { Effects } from "./seams.ts";

/** What a hold works with. */
export interface HoldOptions {
  readonly effects: Effects;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when something has changed. */
  readonly onNews: () => void;
  /**
   * Milliseconds of silence after which a launcher counts as silent. One that is connected is asked for a sign of life
   * first.
   */
  readonly silenceLimit: number;
}

/** Between two attempts to reach a launcher; the wait doubles. Milliseconds. */
const [firstWait, longestWait] = [200, 10_000];

/** Milliseconds in which a launcher answers a ping: that needs neither libvirt nor its guest. */
const pingDeadline = 5_000;

/** Events of a launcher; a guest that boots has a few dozen. */
const mostEvents = { atOnce: 256, perSecond: 16 };

/** How well a launcher can be reached. */
export type Hearing = "waiting" | "ready" | "silent" | "ended";

/**
 * One incarnation of a launcher on this node: its process, held open, the connection to it, and its last report. It
 * follows the launcher's events on its own, so that nobody waits for a launcher that does not answer.
 */
export class GuestHold implements AsyncDisposable {
  record: GuestRecord;
  /** Whether the record is on disk: the agent knew this incarnation before, or has claimed for it. */
  isRecorded: boolean;
  readonly launcher: FoundLauncher | undefined;
  /** What the launcher last reported about its guest; undefined if there is no report yet. */
  domain: DomainStatus | undefined;
  client: GuestClient | undefined;
  memory: PassMemory = {};
  mayRun: MayRun | undefined;
  /** What the sandbox was prepared for. */
  request: Omit<SyncRequest, "mayRun"> | undefined;
  /** Digest of the VMI that the request is about. */
  requestedFor: string | undefined;
  /** The VMI as this agent last wrote it. */
  written: KubeObject | undefined;
  /** The dump of its memory that its launcher was last asked for, until its end is on record. */
  dump: RequestedDump | undefined;
  /** When its VMI was last handled, by the agent's clock. */
  passedAt: number = Number.NEGATIVE_INFINITY;
  /** Whether what was done for it on the node was undone. */
  isCleaned = false;
  readonly #options: HoldOptions;
  readonly #stop = new AbortController();
  /** Of its events, over all connections. */
  readonly #pace: Pace;
  readonly #proven: boolean;
  #heardAt: number;
  /** Whether it has not answered on an open connection. It must be heard again, not only be connected again. */
  #isSilent = false;
  #problem = "";
  #following: Promise<void> | undefined;

  /** @param launcher undefined: its process is proven to have ended. */
  constructor(
    { record, isRecorded }: { readonly record: GuestRecord; readonly isRecorded: boolean },
    launcher: FoundLauncher | undefined,
    options: HoldOptions,
  ) {
    this.record = record;
    this.isRecorded = isRecorded;
    this.launcher = launcher;
    this.#options = options;
    this.#proven = launcher === undefined;
    this.#heardAt = options.clock.now();
    this.#pace = new Pace(mostEvents, options.clock);
  }

  /** Whether the launcher's first process is proven to have ended. */
  get hasEnded(): boolean {
    return this.#proven || (this.launcher?.hasEnded() ?? false);
  }

  /** Whether a change requested from the guest should be retried. */
  get hasPending(): boolean {
    return this.domain?.pending?.some(({ effect }) => effect === "retry") ?? false;
  }

  get hearing(): Hearing {
    if (this.hasEnded) return "ended";
    if (this.#isSilent) return "silent";
    if (this.client && this.domain) return "ready";
    return this.#quietFor >= this.#options.silenceLimit ? "silent" : "waiting";
  }

  /** Milliseconds since the last sign of life. */
  get #quietFor(): number {
    return this.#options.clock.now() - this.#heardAt;
  }

  get view(): LauncherView {
    const { hearing } = this;
    if (hearing === "ended") return { state: "ended", isConnected: false };
    if (hearing === "ready") return { state: "ready", isConnected: true };
    if (hearing === "waiting") return { state: "starting", isConnected: false };
    const problem = `the launcher of Pod ${this.record.podUid} does not answer (${this.#problem}); its guest may still run and is left alone`;
    return { state: "silent", isConnected: false, problem };
  }

  /** Connects, and follows events, until the launcher ends or the hold is disposed of. Once. */
  follow(vmi: VirtualMachineInstance): void {
    const { log } = this.#options;
    this.#following ??= this.#follow(vmi).catch((error: unknown) => {
      log.error({ error: describeError(error) }, "a guest is no longer followed");
    });
  }

  async #follow(vmi: VirtualMachineInstance): Promise<void> {
    const { clock, onNews, log } = this.#options;
    let wait = firstWait;
    while (!this.#stop.signal.aborted && !this.hasEnded) {
      const before = this.hearing;
      try {
        await this.#listen(vmi);
        wait = firstWait;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.#problem =
          error instanceof Error ? error.message.slice(0, 512) : "it cannot be reached";
        log.debug(
          { pod: this.record.podUid, error: describeError(error) },
          "a launcher does not answer",
        );
      }
      if (this.client) {
        await this.#close();
        onNews();
      } else if (before !== this.hearing) {
        onNews();
      }
      await sleep(clock, wait, this.#stop.signal);
      wait = Math.min(wait * 2, longestWait);
    }
    if (!this.#stop.signal.aborted) onNews();
  }

  async #listen(vmi: VirtualMachineInstance): Promise<void> {
    const { effects } = this.#options;
    const { signal } = this.#stop;
    const client = await effects("connect to the launcher", async () => {
      if (!this.launcher) throw new Error("it has ended");
      return await this.launcher.connect(vmi, { signal });
    });
    if (signal.aborted) {
      await client.close();
      return;
    }
    this.client = client;
    const ends = new AbortController();
    const both = AbortSignal.any([signal, ends.signal]);
    try {
      await Promise.race([this.#takeEvents(client, both), this.#requireAnswers(client, both)]);
    } finally {
      ends.abort();
    }
  }

  async #takeEvents(client: GuestClient, signal: AbortSignal): Promise<void> {
    for await (const event of client.events({ signal })) {
      // Events that waited here could be older than the answer to a sync. A new connection begins with the whole status.
      if (this.#pace.take() > 0) throw new Error("it reports more than any guest gives reason to");
      this.#noteLife();
      if (event.kind !== "status") continue;
      this.domain = boundedDomain(event.status);
      this.#options.onNews();
    }
  }

  /** A launcher that hangs keeps its connection, and a guest at rest has no events: only an answer tells them apart. */
  async #requireAnswers(client: GuestClient, signal: AbortSignal): Promise<void> {
    const { clock, silenceLimit } = this.#options;
    while (!signal.aborted) {
      await sleep(clock, Math.max(0, silenceLimit - this.#quietFor), signal);
      if (signal.aborted || this.#quietFor < silenceLimit) continue;
      if (await this.#answers(client, signal)) this.#noteLife();
      else if (!signal.aborted && this.#quietFor >= silenceLimit) {
        this.#isSilent = true;
        const seconds = Math.round(this.#quietFor / 1_000);
        throw new Error(`it is connected, but has neither reported nor answered for ${seconds} s`);
      }
    }
  }

  async #answers(client: GuestClient, signal: AbortSignal): Promise<boolean> {
    const ends = new AbortController();
    const both = AbortSignal.any([signal, ends.signal]);
    // A refusal is an answer, too.
    const answered = client.ping({ signal: both }).then(
      () => true,
      () => true,
    );
    const late = sleep(this.#options.clock, pingDeadline, both).then(() => false);
    try {
      return await Promise.race([answered, late]);
    } finally {
      ends.abort();
    }
  }

  /** Asks the launcher for a dump, without waiting for it; there is news when it has ended. */
  requestDump(path: string, client: GuestClient, time: () => string): RequestedDump {
    const { effects, onNews } = this.#options;
    const { signal } = this.#stop;
    const ask = async (): Promise<void> =>
      await effects("dump the memory", () => client.memoryDump({ path }, { signal }));
    this.dump = new RequestedDump({ path, ask, time, onEnd: onNews });
    return this.dump;
  }

  /** Another observer of the guest reports it here. */
  heard(status: DomainStatus): void {
    this.#noteLife();
    this.domain = boundedDomain(status);
  }

  #noteLife(): void {
    this.#heardAt = this.#options.clock.now();
    this.#isSilent = false;
  }

  async #close(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    // A launcher whose connection broke has time to come back; one that hung has had it.
    if (!this.#isSilent) this.#heardAt = this.#options.clock.now();
    // Its answer would have come over this connection; whoever asks again joins the dump.
    if (!this.dump?.ended) this.dump = undefined;
    await client?.close();
  }

  /** Stops following, and releases the process. The guest is not touched. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#close();
    await this.#following;
    this.launcher?.[Symbol.dispose]();
  }
}
