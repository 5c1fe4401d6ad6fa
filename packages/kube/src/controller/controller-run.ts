import { setMaxListeners } from "node:events";
import type { Clock } from "@virtkit/api/clock";
import { describeError, type Log, type Metrics, silentLog } from "@virtkit/api/observe";
import type { Random } from "@virtkit/api/random";
import { objectKey } from "../cache/object-key.ts";
import { isConflict } from "../client/kube-error.ts";
import type { ObjectName } from "../client/resource.ts";
import { createRateLimiter } from "../queue/rate-limiter.ts";
import { type Priority, WorkQueue } from "../queue/work-queue.ts";
import { AtWork, type Work } from "./at-work.ts";
import type { ControllerOptions } from "./controller-options.ts";
import { logWith } from "./log-with.ts";
import { planRequeue, type ReconcileOutcome, type Requeue } from "./plan-requeue.ts";
import type { ReconcileContext } from "./reconciler.ts";
import type { RunningWatch } from "./watch.ts";

/** {@link ControllerOptions} with everything decided. */
export interface ControllerSettings extends ControllerOptions {
  readonly concurrency: number;
  readonly deadline: number;
  readonly mostBlind: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** One run of a controller, from its watches to the end of its last reconcile. */
export class ControllerRun {
  readonly #settings: ControllerSettings;
  readonly #queue: WorkQueue;
  readonly #log: Log;
  /** Ends everything. */
  readonly #abort = new AbortController();
  readonly #signal: AbortSignal | undefined;
  readonly #atWork: AtWork;
  readonly #ended: Promise<void>;
  #setEnded = (): void => {};
  #watches: readonly RunningWatch[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor(settings: ControllerSettings, signal: AbortSignal | undefined) {
    this.#settings = settings;
    this.#signal = signal;
    // Each watch listens to it, and there may be more than the ten from which Node suspects a leak.
    setMaxListeners(0, this.#abort.signal);
    const { name, clock, metrics, log, backoff } = settings;
    const rateLimiter = createRateLimiter({ ...backoff, clock });
    this.#queue = new WorkQueue({ name, clock, metrics, rateLimiter });
    this.#log = logWith(log, { controller: name });
    this.#atWork = new AtWork(clock, settings.deadline, (key) => this.#overdue(key));
    this.#ended = new Promise((resolve) => {
      this.#setEnded = resolve;
    });
  }

  async run(): Promise<void> {
    const stop = (): void => this.#end(this.#signal?.reason);
    this.#signal?.addEventListener("abort", stop, { once: true });
    if (this.#signal?.aborted) stop();
    try {
      if (!this.#signal?.aborted) this.#startWatches();
      if (await this.#allSynced()) {
        this.#log.info("all watches have synced");
        const workers = Array.from({ length: this.#settings.concurrency }, () => this.#work());
        await Promise.all(workers);
      }
      await this.#queue.shutDown();
    } finally {
      this.#end(undefined);
      this.#signal?.removeEventListener("abort", stop);
      await Promise.allSettled(this.#watches.map(({ ended }) => ended));
      this.#setEnded();
    }
    if (this.#failure) throw this.#failure.error;
  }

  async stop(grace: number): Promise<void> {
    const timer = this.#settings.clock.setTimeout(() => this.#end(undefined), grace);
    // Before the watches have synced nothing is at work, and nobody waits for a key.
    if (this.#queue.taken === 0) this.#end(undefined);
    void this.#queue.shutDown();
    await this.#ended;
    this.#settings.clock.clearTimeout(timer);
  }

  enqueue(key: string, after: number, priority: Priority): void {
    this.#queue.addAfter(key, after, priority);
  }

  watches(): readonly { readonly name: string; readonly blindFor: number }[] {
    return this.#watches.map((watch) => ({ name: watch.name, blindFor: watch.blindFor() }));
  }

  problems(): readonly string[] {
    const { name, mostBlind } = this.#settings;
    const blind = this.watches()
      .filter(({ blindFor }) => blindFor > mostBlind)
      .map(
        (watch) => `${name}: ${watch.name} has not heard from its server for ${watch.blindFor} ms`,
      );
    const overdue = this.#atWork.overdue.map(
      (key) => `${name}: the reconcile of ${key} has not ended, although its deadline has passed`,
    );
    return [...blind, ...overdue];
  }

  /** Aborts everything; the first reason counts. */
  #end(reason: unknown): void {
    this.#abort.abort(reason);
    this.#atWork.abort(this.#abort.signal.reason);
    void this.#queue.shutDown();
  }

  #startWatches(): void {
    const { client, clock, random, log, metrics, watches, filter, priority } = this.#settings;
    const enqueue = (object: ObjectName, priorityOfWatch: Priority): void => {
      if (filter && !filter(object)) return;
      this.#queue.add(objectKey(object), priority?.(object) ?? priorityOfWatch);
    };
    const run = { client, clock, random, log, metrics, signal: this.#abort.signal, enqueue };
    this.#watches = watches.map((watch) => watch.start(run));
    for (const { name, ended } of this.#watches) {
      ended.catch((error: unknown) => {
        this.#log.error({ watch: name, error: describeError(error) }, "a watch broke");
        this.#failure ??= { error };
        this.#end(error);
      });
    }
  }

  /** False if it was stopped before. */
  async #allSynced(): Promise<boolean> {
    const { signal } = this.#abort;
    const stopped = new Promise<false>((resolve) => {
      if (signal.aborted) resolve(false);
      signal.addEventListener("abort", () => resolve(false), { once: true });
    });
    const synced = Promise.all(this.#watches.map((watch) => watch.synced)).then(
      () => true,
      // A cache that somebody else feeds says so when the signal ends the wait.
      () => false,
    );
    return await Promise.race([synced, stopped]);
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.get(); key !== undefined; key = await this.#queue.get()) {
      await this.#reconcile(key);
      this.#queue.done(key);
    }
  }

  async #reconcile(key: string): Promise<void> {
    const { name, clock, metrics } = this.#settings;
    const work = this.#atWork.begin(key);
    metrics.observe("kube_reconciles_at_work", this.#atWork.size, { controller: name });
    const attempt = this.#queue.failures(key) + 1;
    const context = new Context(work, attempt, this.#settings.random, this.#log);
    const outcome = await this.#attempt(context);
    this.#atWork.end(key);
    const requeue = planRequeue(outcome);
    this.#requeue(key, requeue);
    const seconds = (clock.now() - work.startedAt) / 1_000;
    const labels = { controller: name, result: requeue.result };
    metrics.observe("kube_reconciles_at_work", this.#atWork.size, { controller: name });
    metrics.observe("kube_reconcile_seconds", seconds, labels);
    metrics.count("kube_reconciles", labels);
    tell(context, requeue, outcome, seconds);
  }

  /** Calls the reconciler; nothing that it does gets any further than this. */
  async #attempt(context: ReconcileContext): Promise<ReconcileOutcome> {
    try {
      const result = await this.#settings.reconcile(objectName(context.key), context);
      return { state: "returned", result: result ?? undefined };
    } catch (error) {
      return this.#abort.signal.aborted ? { state: "stopped" } : { state: "threw", error };
    }
  }

  #overdue(key: string): void {
    const { name, metrics, deadline } = this.#settings;
    metrics.count("kube_reconciles_overdue", { controller: name });
    const message = "the reconcile has not ended, although its deadline has passed";
    this.#log.error({ key, deadline }, message);
  }

  #requeue(key: string, requeue: Requeue): void {
    const priority = this.#settings.priority?.(objectName(key));
    if (requeue.result === "error") {
      this.#queue.addRateLimited(key, { atLeast: requeue.atLeast, priority });
      return;
    }
    this.#queue.forget(key);
    if (requeue.result === "requeue_after") this.#queue.addAfter(key, requeue.after, priority);
  }
}

/** Signal, ID and log are made only when somebody asks for them. */
class Context implements ReconcileContext {
  readonly key: string;
  readonly attempt: number;
  readonly #work: Work;
  readonly #random: Random;
  readonly #log: Log;
  #reconcileId: string | undefined;

  constructor(work: Work, attempt: number, random: Random, log: Log) {
    this.key = work.key;
    this.attempt = attempt;
    this.#work = work;
    this.#random = random;
    this.#log = log;
  }

  get reconcileId(): string {
    this.#reconcileId ??= this.#random.uuid();
    return this.#reconcileId;
  }

  get signal(): AbortSignal {
    return this.#work.signal;
  }

  get log(): Log {
    if (this.#log === silentLog) return silentLog;
    const { key, reconcileId } = this;
    return logWith(this.#log, { key, reconcileId });
  }
}

function tell(
  context: ReconcileContext,
  { result }: Requeue,
  outcome: ReconcileOutcome,
  seconds: number,
): void {
  const { log, attempt } = context;
  if (outcome.state !== "threw") {
    log.debug({ attempt, seconds, result }, "reconciled");
    return;
  }
  const told = { attempt, seconds, error: describeError(outcome.error) };
  if (result === "terminal") log.error(told, "the reconcile failed for good");
  else if (isConflict(outcome.error)) log.info(told, "conflict with another writer; retrying");
  else log.warn(told, "the reconcile failed; retrying");
}

/** The name in a key; see `objectKey`. */
function objectName(key: string): ObjectName {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
