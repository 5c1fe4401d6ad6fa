import { type Clock, realClock, sleep, until, wallTime } from "@virtkit/api/clock";
import { describeError, type Observers } from "@virtkit/api/observe";
import { GuestAgent } from "../agent/guest-agent.ts";
import { DomainManagerError } from "../domain-manager-error.ts";
import type { EventStream } from "../libvirt/event-stream.ts";
import type { Libvirt } from "../libvirt/libvirt.ts";
import { lifecycleDetail } from "../libvirt/protocol/enums.ts";
import type { DomainEvent } from "../libvirt/protocol/events.ts";
import type { CallOptions } from "../libvirt/rpc/pending-call.ts";
import { AgentPoller } from "./agent-poller.ts";
import { agentPolls, type PolledLists, type PollIntervals, pollIntervals } from "./agent-polls.ts";
import type { DomainStatus } from "./domain-status.ts";
import type { GuestEvent } from "./guest-event.ts";
import { GuestEventQueue } from "./guest-event-queue.ts";
import { hasEnded } from "./guest-predicates.ts";
import { type GuestFact, type GuestRecord, learn, statusOf, unknownGuest } from "./guest-record.ts";
import { type Incident, incidentOf, missedIncident } from "./incidents.ts";
import { lookAtDomain } from "./look-at-domain.ts";
import { readPanicDetail } from "./panic-detail.ts";
import { changesOf, type Happening, type StageHappening } from "./status-changes.ts";

/** How {@link watchDomain} watches. */
export interface DomainWatcherOptions extends Observers {
  /** One that reconnects; otherwise the watch ends with the connection. */
  readonly libvirt: Pick<Libvirt, "call" | "subscribe">;
  /** The connection for questions to the agent, which can hang. By default the same. */
  readonly agentLibvirt?: Pick<Libvirt, "call">;
  /** Name of the domain: `namespace_name`. It need not exist yet. */
  readonly name: string;
  readonly intervals?: Partial<PollIntervals>;
  /** QEMU's log, which has the details of a panic. */
  readonly qemuLog?: string;
  readonly clock?: Clock;
  /** The time of events, as an ISO date. */
  readonly now?: () => string;
}

const watched = [
  "lifecycle",
  "reboot",
  "agentLifecycle",
  "deviceAdded",
  "deviceRemoved",
  "blockJob",
  "ioError",
  "watchdog",
  "memoryDeviceSizeChange",
] as const;

type Watched = (typeof watched)[number];

/** Events that are kept for one slow subscriber. */
const queueLimit = 256;
/** Milliseconds for one call of a look, and until the next look after a failure. */
const lookTimeout = 15_000;
const lookAgain = 200;

/**
 * Watches one domain of a libvirtd: resolves once its present state has been read from libvirt.
 *
 * @example
 * ```ts
 * await using watcher = await watchDomain({ libvirt, name: "default_vm" });
 * for await (const event of watcher.events()) console.log(event.kind);
 * ```
 */
export async function watchDomain(options: DomainWatcherOptions): Promise<DomainWatcher> {
  const stream = await options.libvirt.subscribe(watched);
  const watcher = new DomainWatcher(options, stream);
  try {
    await watcher.refresh();
    return watcher;
  } catch (error) {
    await watcher[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * One guest's current status and its events; created by {@link watchDomain}.
 *
 * An event of libvirt is only a hint: the present state is then read from libvirt. So lost events
 * lose nothing, nothing is remembered only here, and what changes nothing is not reported.
 */
export class DomainWatcher implements AsyncDisposable {
  readonly #options: DomainWatcherOptions;
  readonly #clock: Clock;
  readonly #stream: EventStream<Watched>;
  readonly #poller: AgentPoller;
  readonly #queues = new Set<GuestEventQueue>();
  readonly #closing = new AbortController();
  #record: GuestRecord;
  #status: DomainStatus;
  #lists: PolledLists = {};
  /** The look in progress, and the one that follows it. */
  #looking: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  /** Stages and incidents of this run that were already reported. */
  readonly #told = new Set<string>();
  /** Events were lost, and nobody has been told yet. */
  #missed = false;
  /** Why the last look failed. */
  #failure = "libvirt is slow";
  #ended: Error | undefined;

  /** @internal */
  constructor(options: DomainWatcherOptions, stream: EventStream<Watched>) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.#stream = stream;
    this.#record = unknownGuest(options.name);
    this.#status = statusOf(this.#record);
    const intervals = { ...pollIntervals, ...options.intervals };
    const sinks = {
      told: (told: Extract<GuestFact, { kind: "told" }>["told"]) =>
        this.learn({ kind: "told", id: this.#record.domain?.id ?? -1, told }),
      listed: (lists: PolledLists) => {
        this.#lists = { ...this.#lists, ...lists };
      },
    };
    this.#poller = new AgentPoller(
      agentPolls(() => this.#agent(), intervals, sinks),
      this.#clock,
      options,
    );
    void this.#follow();
  }

  /** What is known now. The same object until something changes. */
  get status(): DomainStatus {
    return this.#status;
  }

  /** What the agent last reported about users and file systems; empty until it has. */
  get lists(): PolledLists {
    return this.#lists;
  }

  /**
   * Future events; begins with the whole status. Ends with the watcher or the signal; throws if
   * libvirt is gone for good. A reader that is 256 events behind gets `resync` and the status.
   */
  events({ signal }: { readonly signal?: AbortSignal } = {}): AsyncIterableIterator<GuestEvent> {
    const onAbort = (): void => void queue.return();
    const queue = new GuestEventQueue({
      limit: queueLimit,
      current: () => this.#event({ kind: "status", status: this.#status }),
      now: () => this.#now(),
      onEnd: (ended) => {
        signal?.removeEventListener("abort", onAbort);
        this.#queues.delete(ended);
      },
    });
    this.#queues.add(queue);
    if (this.#closing.signal.aborted) queue.end(this.#ended);
    else if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort);
    return queue;
  }

  /**
   * Looks at libvirt now, and returns the status with what it found: a caller sees its own changes.
   * Rejects with a `DomainManagerError` if libvirt does not answer.
   */
  async refresh({ signal, timeout = lookTimeout }: CallOptions = {}): Promise<DomainStatus> {
    try {
      await patiently(this.#lookUntilDone(), this.#clock, timeout, signal);
      return this.#status;
    } catch (error) {
      const why = error === outOfPatience ? this.#failure : String(error);
      const message = `the state of the domain ${this.#options.name} could not be read within ${timeout} ms: ${why}`;
      throw new DomainManagerError("DOMAIN_LIBVIRT", message, { path: "status", cause: error });
    }
  }

  /** Adds something that was learned elsewhere, such as whether access credentials were applied. */
  learn(fact: GuestFact): void {
    this.#learn(fact, false);
  }

  /**
   * Reports a stage or an incident from elsewhere to subscribers. A completed stage is reported
   * once in each run of the guest.
   */
  tell(happening: StageHappening | Incident): void {
    if (happening.kind === "stage" && happening.state === "done") {
      const key = `stage ${happening.stage}`;
      if (this.#told.has(key)) return;
      this.#told.add(key);
    }
    this.#publish(happening);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end(undefined);
    // Nobody reads it any more: whether the daemon removed the registration does not matter.
    await this.#stream.return().catch(() => {});
  }

  #learn(fact: GuestFact, force: boolean): void {
    const before = this.#status;
    this.#record = learn(this.#record, fact);
    const status = statusOf(this.#record);
    const isChanged = JSON.stringify(status) !== JSON.stringify(before);
    if (isChanged) this.#status = status;
    if (isChanged || force) this.#publish({ kind: "status", status: this.#status });
    if (!isChanged) return;
    for (const happening of changesOf(before, status)) this.tell(happening);
    const missed = missedIncident(before, status);
    if (missed && !this.#has("incident IOerror")) this.tell(missed);
    this.#settle(before);
  }

  async #follow(): Promise<void> {
    try {
      for await (const item of this.#stream) {
        if (item.type === "resync" || item.type === "dropped") await this.#resync();
        else if (item.dom.name === this.#options.name) await this.#happened(item);
      }
      this.#end(undefined);
    } catch (error) {
      const why = error instanceof Error ? error.message : "it is gone";
      this.#end(new DomainManagerError("DOMAIN_LIBVIRT", `libvirt: ${why}`, { cause: error }));
    }
  }

  /** Events may have been missed: the next look says so, and then reports the present state. */
  async #resync(): Promise<void> {
    this.#missed = true;
    // Questions from before the loss of the connection get no answer.
    this.#poller.stop();
    await this.#lookUntilDone();
    this.#poll();
  }

  async #happened(event: DomainEvent<Watched>): Promise<void> {
    if (event.type === "lifecycle" || event.type === "ioError" || event.type === "watchdog") {
      await this.#report(event);
    }
    await this.#lookUntilDone();
  }

  async #report(event: DomainEvent<"lifecycle" | "ioError" | "watchdog">): Promise<void> {
    const { qemuLog } = this.#options;
    if (isSignal(event)) this.learn({ kind: "signalled" });
    const isPanic = event.type === "lifecycle" && event.event === "crashed";
    const panic = isPanic && qemuLog ? await readPanicDetail(qemuLog) : undefined;
    const incident = incidentOf(event, panic);
    if (incident && !this.#isRepeated(incident)) this.tell(incident);
  }

  /** QEMU reports each request that a disk failed; one is enough until the guest runs again. */
  #isRepeated({ reason, message }: Incident): boolean {
    if (reason !== "IOerror") return false;
    const key = `incident ${reason} ${message}`;
    if (this.#told.has(key)) return true;
    this.#told.add(key);
    return false;
  }

  #has(prefix: string): boolean {
    return [...this.#told].some((key) => key.startsWith(prefix));
  }

  /** Starts and stops what depends on the status. */
  #settle(before: DomainStatus): void {
    const { state } = this.#status;
    if (state !== before.state) {
      const isOver = hasEnded({ state });
      for (const key of this.#told) {
        if (isOver || (state === "Running" && key.startsWith("incident"))) this.#told.delete(key);
      }
      if (isOver) this.#lists = {};
    }
    this.#poll();
  }

  #poll(): void {
    const { state, agent } = this.#status;
    if (state === "Running" && agent === "connected" && !this.#closing.signal.aborted) {
      this.#poller.start();
    } else this.#poller.stop();
  }

  /**
   * One look at a time. A caller during a look waits for the next: the present one may be too
   * early.
   */
  async #look(): Promise<void> {
    if (!this.#looking) {
      this.#looking = this.#lookNow().finally(() => {
        this.#looking = undefined;
      });
      return await this.#looking;
    }
    this.#next ??= this.#looking
      // Callers that wait for that look get its failure.
      .catch(() => {})
      .then(async () => {
        this.#next = undefined;
        await this.#look();
      });
    await this.#next;
  }

  async #lookNow(): Promise<void> {
    const options = { timeout: lookTimeout, signal: this.#closing.signal };
    const fact = await lookAtDomain(this.#options.libvirt, this.#options.name, options);
    const missed = this.#missed;
    this.#missed = false;
    if (missed) this.#publish({ kind: "resync" });
    this.#learn(fact, missed);
  }

  /** A look changes nothing, so a failed one is retried. Throws if the watch has ended. */
  async #lookUntilDone(): Promise<void> {
    const attempt = async (): Promise<boolean> => {
      try {
        await this.#look();
        return true;
      } catch (error) {
        this.#failure = error instanceof Error ? error.message : "it failed";
        this.#options.log?.debug(
          { error: describeError(error) },
          "the next look at the domain follows",
        );
        this.#options.metrics?.count("domain_look_failures");
        return false;
      }
    };
    await until(attempt, {
      clock: this.#clock,
      interval: lookAgain,
      signal: this.#closing.signal,
    });
  }

  #agent(): GuestAgent {
    const { libvirt, agentLibvirt = libvirt, name } = this.#options;
    const { uuid = "", id = -1 } = this.#record.domain ?? {};
    return new GuestAgent({ libvirt: agentLibvirt, dom: { name, uuid, id }, clock: this.#clock });
  }

  #end(error: Error | undefined): void {
    if (this.#closing.signal.aborted) return;
    this.#ended = error;
    if (error)
      this.#options.log?.error({ error: describeError(error) }, "the watch of the domain ends");
    this.#closing.abort(error ?? new Error("the watch has ended"));
    this.#poller.stop();
    for (const queue of this.#queues) queue.end(error);
  }

  #publish(happening: Happening): void {
    const event = this.#event(happening);
    for (const queue of this.#queues) queue.push(event);
  }

  #event(happening: Happening): GuestEvent {
    return { at: this.#now(), ...happening } as GuestEvent;
  }

  #now(): string {
    return this.#options.now?.() ?? wallTime().toISOString();
  }
}

/** Whether an event says that QEMU ends because of a signal, not because its guest wants it to. */
function isSignal(event: DomainEvent<"lifecycle" | "ioError" | "watchdog">): boolean {
  if (event.type !== "lifecycle" || event.event !== "shutdown") return false;
  return lifecycleDetail(event.event, event.detail) === "host";
}

const outOfPatience = new Error("out of patience");

/** Waits for a promise up to a time limit; its work continues afterwards. */
async function patiently(
  promise: Promise<void>,
  clock: Clock,
  timeout: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const done = new AbortController();
  const signals = signal ? [signal, done.signal] : [done.signal];
  const patience = sleep(clock, timeout, AbortSignal.any(signals)).then(() => {
    throw outOfPatience;
  });
  try {
    await Promise.race([promise, patience]);
  } finally {
    done.abort();
  }
}
