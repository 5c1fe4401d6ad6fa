import { type Clock, realClock, sleep, wallTime } from "@virtkit/api/clock";
import {
  describeError,
  type Log,
  type Metrics,
  noMetrics,
  type Observers,
  silentLog,
} from "@virtkit/api/observe";
import { type Random, realRandom } from "@virtkit/api/random";
import type { KubeClient } from "../client/kube-client.ts";
import { isNotFound, isUncertain } from "../client/kube-error.ts";
import type { KubeObject } from "../client/kube-object.ts";
import { apiVersionOf, type Resource } from "../client/resource.ts";
import { type Aggregate, EventAggregator } from "./event-aggregator.ts";
import { type EventType, events, type KubeEvent, type ObjectReference } from "./kube-event.ts";

/** Options of an {@link EventRecorder}. */
export interface EventRecorderOptions extends Observers {
  readonly client: Pick<KubeClient, "create" | "patch">;
  /** Who says it. */
  readonly component: string;
  /** The node of the component, if there is one for each node. */
  readonly host?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly wall?: (() => Date) | undefined;
  readonly random?: Random | undefined;
  /** Events that wait to be written; more are dropped. By default 1,000. */
  readonly mostPending?: number | undefined;
}

/** Tries of one event, and the delay after the first of them. */
const tries = 4;
const firstDelay = 1_000;
const timeout = 10_000;
/** Events that the server knows and whose count can be raised. */
const mostWritten = 4_096;

/**
 * Writes Kubernetes events. `record` never waits and never throws: repeated events are counted, excess events are
 * dropped, and events that cannot be written are logged.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #wall: () => Date;
  readonly #random: Random;
  readonly #log: Log;
  readonly #metrics: Metrics;
  readonly #aggregator: EventAggregator;
  /** By key: only the last state of each must be written. */
  readonly #pending = new Map<string, Aggregate & { readonly at: Date }>();
  /** By key, the names of events that are written. */
  readonly #written = new Map<string, string>();
  readonly #stop = new AbortController();
  #sending: Promise<void> | undefined;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.#wall = options.wall ?? wallTime;
    this.#random = options.random ?? realRandom;
    this.#log = options.log ?? silentLog;
    this.#metrics = options.metrics ?? noMetrics;
    this.#aggregator = new EventAggregator(this.#clock);
  }

  /** Says that something happened to an object. */
  record<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    event: { readonly type?: EventType; readonly reason: string; readonly message: string },
  ): void {
    if (this.#stop.signal.aborted) return;
    const about = { type: "Normal" as const, ...event, object: referenceTo(resource, object) };
    const aggregate = this.#aggregator.take(about);
    const { mostPending = 1_000 } = this.#options;
    const isFull = this.#pending.size >= mostPending && !this.#pending.has(aggregate?.key ?? "");
    if (!aggregate || isFull) {
      this.#metrics.count("kube_events_dropped", { reason: aggregate ? "full" : "too many" });
      return;
    }
    this.#pending.set(aggregate.key, { ...aggregate, at: this.#wall() });
    this.#sending ??= this.#sendAll();
  }

  /** Resolves once everything that was recorded is written or given up. */
  async flush(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  /** Stops recording, and drops what has not been written. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#pending.clear();
    await this.flush();
  }

  async #sendAll(): Promise<void> {
    // What is recorded in the same turn is counted together.
    await Promise.resolve();
    for (;;) {
      const [next] = this.#pending.values();
      if (!next) break;
      this.#pending.delete(next.key);
      await this.#send(next);
    }
    this.#sending = undefined;
  }

  async #send(event: Aggregate & { readonly at: Date }): Promise<void> {
    for (let attempt = 1; !this.#stop.signal.aborted; attempt++) {
      try {
        await this.#write(event);
        return;
      } catch (error) {
        if (attempt >= tries || !isUncertain(error)) {
          this.#metrics.count("kube_events_dropped", { reason: "failed" });
          const { object, reason } = event;
          const details = { object, reason, error: describeError(error) };
          this.#log.warn(details, "an event could not be written");
          return;
        }
      }
      const delay = firstDelay * 2 ** (attempt - 1) * (0.5 + this.#random.number());
      await sleep(this.#clock, delay, this.#stop.signal);
    }
  }

  async #write(event: Aggregate & { readonly at: Date }): Promise<void> {
    const { client } = this.#options;
    const options = { timeout, signal: this.#stop.signal };
    const namespace = event.object.namespace ?? "default";
    const name = this.#written.get(event.key);
    if (name !== undefined) {
      const { count, message } = event;
      const body = { count, message, lastTimestamp: seconds(event.at) };
      try {
        await client.patch(events, { namespace, name }, { type: "merge", body }, options);
        return;
      } catch (error) {
        // Servers forget events after an hour.
        if (!isNotFound(error)) throw error;
      }
    }
    const created = this.#newEvent(event, namespace);
    await client.create(events, created, options);
    this.#written.delete(event.key);
    this.#written.set(event.key, created.metadata.name ?? "");
    if (this.#written.size > mostWritten) {
      this.#written.delete(this.#written.keys().next().value ?? "");
    }
  }

  #newEvent(event: Aggregate & { readonly at: Date }, namespace: string): KubeEvent {
    const { object, type, reason, message, count, at } = event;
    const { component, host } = this.#options;
    const time = seconds(at);
    const name = `${object.name.slice(0, 200)}.${this.#random.uuid().replaceAll("-", "")}`;
    return {
      metadata: { namespace, name },
      involvedObject: object,
      type,
      reason,
      message,
      count,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component, ...(host === undefined ? {} : { host }) },
      reportingComponent: component,
    };
  }
}

function referenceTo(resource: Resource, { metadata }: KubeObject): ObjectReference {
  const { name = "", namespace, uid } = metadata;
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
  };
}

/** As Kubernetes writes times. */
function seconds(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}
