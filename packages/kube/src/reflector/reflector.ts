import { type Clock, realClock, sleep } from "@virtkit/api/clock";
import { describeError, type Log, type Metrics, noMetrics, silentLog } from "@virtkit/api/observe";
import { type Random, realRandom } from "@virtkit/api/random";
import type { KubeClient, WatchEvent } from "../client/kube-client.ts";
import { isExpired, isKubeError, KubeError } from "../client/kube-error.ts";
import type { KubeObject } from "../client/kube-object.ts";
import type { Resource } from "../client/resource.ts";
import { afterFailure } from "./after-failure.ts";
import { Backoff } from "./backoff.ts";
import type { ReflectorEvent } from "./reflector-event.ts";
import type { ReflectorOptions } from "./reflector-options.ts";
import { SilenceGuard } from "./silence-guard.ts";
import { WatchPosition } from "./watch-position.ts";
import { withoutManagedFields } from "./without-managed-fields.ts";

/** A connection that lasted this long was a good one: the next failure is a new one. */
const goodConnection = 10_000;
/** How many lists in a row may break before their end until they are requested in pages. */
const maxStreamTries = 3;
/** A server does not pause in a list that it streams, unless it cannot end it. */
const listSilenceLimit = 15_000;
/** The server ends a watch after a random time of five to ten minutes, so that not all clients come back at once. */
const watchSeconds = 300;

/**
 * Reports all objects of a resource, and then each change, until its signal is aborted: it never ends by itself and
 * never throws. Failures go to `log` and `metrics`, and are retried.
 *
 * It is an async iterable for one consumer; `ReflectorEvent` describes the contract. Nothing is read ahead: while
 * an event is being handled, the connection waits.
 *
 * @example
 * for await (const event of new Reflector(client, pods, { signal })) {
 *   if (event.type === "apply") console.log(event.object.metadata.name);
 * }
 */
export class Reflector<T extends KubeObject> implements AsyncIterable<ReflectorEvent<T>> {
  readonly resource: Resource<T>;
  readonly options: ReflectorOptions<T>;
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Log;
  readonly #metrics: Metrics;
  readonly #label: { readonly resource: string };
  #heardAt: number;
  #isRunning = false;
  /** How many more lists are requested as a stream before it falls back to pages. */
  #streamTries: number;
  /** Pages that expired before the last of them was read, one list after the other. */
  #expiredLists = 0;

  constructor(client: KubeClient, resource: Resource<T>, options: ReflectorOptions<T> = {}) {
    this.resource = resource;
    this.options = options;
    this.#client = client;
    this.#clock = options.clock ?? realClock;
    this.#random = options.random ?? realRandom;
    this.#log = options.log ?? silentLog;
    this.#metrics = options.metrics ?? noMetrics;
    this.#streamTries = options.list === "stream" ? maxStreamTries : 0;
    const { group, plural } = resource;
    this.#label = { resource: group === "" ? plural : `${plural}.${group}` };
    this.#heardAt = this.#clock.now();
  }

  /**
   * Milliseconds since it last heard from the server, or was created. A server that has nothing to report usually
   * says so every minute, and one that does not, because objects of this kind have not changed since it started, at least accepts
   * the watch again when the silence has ended the last one. So after several minutes of silence the known objects may be old.
   * For health checks.
   */
  blindFor(): number {
    return this.#clock.now() - this.#heardAt;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ReflectorEvent<T>, void, undefined> {
    if (this.#isRunning) {
      const message = "a Reflector has one consumer; make another Reflector, or share a Cache";
      throw new KubeError("KUBE_INPUT_INVALID", message, { path: "Reflector" });
    }
    this.#isRunning = true;
    const { signal = new AbortController().signal } = this.options;
    const backoff = new Backoff({ ...this.options.backoff, random: this.#random });
    const position = new WatchPosition<T>(this.options.transform ?? withoutManagedFields);
    try {
      while (!signal.aborted) {
        const startedAt = this.#clock.now();
        let retryAfter: number | undefined;
        try {
          yield* this.#list(position, signal);
          yield* this.#watch(position, signal);
        } catch (error) {
          if (!signal.aborted) retryAfter = this.#failed(error, position);
        }
        const wasGood = this.#clock.now() - startedAt >= goodConnection;
        if (wasGood) backoff.reset();
        // A watch that ended regularly after a while is made again at once.
        if (wasGood && retryAfter === undefined) continue;
        await sleep(this.#clock, backoff.next(retryAfter), signal);
      }
    } finally {
      this.#isRunning = false;
    }
  }

  /** Reads the existing objects, if that is needed and is not the beginning of the watch. */
  async *#list(
    position: WatchPosition<T>,
    signal: AbortSignal,
  ): AsyncGenerator<ReflectorEvent<T>, void, undefined> {
    if (position.version !== undefined) return;
    this.#metrics.count("kube_reflector_lists", this.#label);
    if (this.#streamTries > 0) return;
    const { namespace, labelSelector, fieldSelector, pageSize = 200 } = this.options;
    // A consumer that is slower than the server keeps its pages gets all objects in one.
    const limit = this.#expiredLists > 1 ? undefined : pageSize;
    let next: string | undefined;
    do {
      const options = { namespace, labelSelector, fieldSelector, limit, continue: next, signal };
      const { items, metadata } = await this.#client.list(this.resource, options);
      this.#heardAt = this.#clock.now();
      if (next === undefined) yield { type: "init" };
      for (const object of items) yield position.object(object);
      next = metadata.continue || undefined;
      if (next === undefined) yield position.listed(metadata.resourceVersion);
    } while (next !== undefined);
    this.#expiredLists = 0;
  }

  async *#watch(
    position: WatchPosition<T>,
    signal: AbortSignal,
  ): AsyncGenerator<ReflectorEvent<T>, void, undefined> {
    const { silenceLimit = 120_000 } = this.options;
    const startedAt = this.#clock.now();
    const isListing = position.version === undefined;
    const limit = isListing ? Math.min(silenceLimit, listSilenceLimit) : silenceLimit;
    using guard = new SilenceGuard(this.#clock, limit, signal);
    try {
      for await (const event of this.#open(position, guard.signal)) {
        guard.heard();
        this.#heardAt = this.#clock.now();
        for (const told of position.take(event)) yield told;
        if (isListing && position.version !== undefined) guard.allow(silenceLimit);
        guard.waiting();
      }
      this.#heardAt = this.#clock.now();
      if (position.version === undefined && !signal.aborted) {
        const message = "the watch ended before its list was complete";
        throw new KubeError("KUBE_ANSWER_INVALID", message);
      }
    } catch (error) {
      throw this.#watchFailed(error, position, guard);
    } finally {
      const seconds = (this.#clock.now() - startedAt) / 1_000;
      this.#metrics.observe("kube_reflector_watch_seconds", seconds, this.#label);
    }
  }

  #watchFailed(error: unknown, { version }: WatchPosition<T>, guard: SilenceGuard): unknown {
    if (version === undefined) {
      const isRefused = guard.isSilent || isStreamRefused(error);
      this.#streamTries = isRefused ? 0 : this.#streamTries - 1;
    }
    if (!guard.isSilent) return error;
    const message = `nothing from the server for ${guard.limit} ms; closing the connection`;
    return new KubeError("KUBE_TIMEOUT", message, { cause: error });
  }

  #open(position: WatchPosition<T>, signal: AbortSignal): AsyncIterable<WatchEvent<T>> {
    const { namespace, labelSelector, fieldSelector } = this.options;
    return this.#client.watch(this.resource, {
      namespace,
      labelSelector,
      fieldSelector,
      allowBookmarks: true,
      resourceVersion: position.version,
      sendInitialEvents: position.version === undefined ? true : undefined,
      timeoutSeconds: Math.round(watchSeconds * (1 + this.#random.number())),
      onOpen: () => {
        this.#heardAt = this.#clock.now();
      },
      signal,
    });
  }

  /** Reports a failure, and decides from where to continue. Returns the delay that the server asked for. */
  #failed(error: unknown, position: WatchPosition<T>): number {
    const wasListing = position.version === undefined;
    const next = wasListing ? "relist" : afterFailure(error);
    if (wasListing && isExpired(error)) this.#expiredLists++;
    if (next === "relist") position.lose();
    const code = isKubeError(error) ? error.code : "other";
    this.#metrics.count("kube_reflector_failures", { ...this.#label, code });
    const details = { ...this.#label, error: describeError(error), next };
    this.#log.warn(details, "a list or watch failed; retrying");
    return ((isKubeError(error) && error.retryAfterSeconds) || 0) * 1_000;
  }
}

/**
 * Whether a server cannot stream a list: it does not support that, or its etcd is too old to tell it when a
 * list ends.
 */
function isStreamRefused(error: unknown): boolean {
  if (!isKubeError(error)) return false;
  const { code, status, causes } = error;
  const isUnable = causes.some(({ reason }) => reason === "ResourceVersionTooLarge");
  return status === 400 || status === 422 || isUnable || code === "KUBE_ANSWER_INVALID";
}
