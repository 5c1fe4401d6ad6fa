import {
  describeError,
  type Log,
  type Metrics,
  noMetrics,
  type Observers,
  silentLog,
} from "@virtkit/api/observe";
import { EventStream } from "./event-stream.ts";
import type { LibvirtError } from "./libvirt-error.ts";
import { type DomainEvent, type EventType, events } from "./protocol/events.ts";
import { headerBytes, type MessageHeader } from "./protocol/message.ts";
import type { Codec } from "./xdr/codec.ts";
import { structCodec } from "./xdr/codec-for.ts";
import { malformed, XdrReader } from "./xdr/xdr-reader.ts";

/** A domain as named by calls and events. */
export interface DomainRef {
  readonly name: string;
  readonly uuid: string;
  readonly id: number;
}

/** What the hub needs from the current connection. */
export interface EventRegistry {
  /** Registers; the callback gets the number while the reply is handled, before any later event. */
  register(
    event: number,
    dom: DomainRef | undefined,
    onReply: (callback: number) => void,
  ): Promise<void>;
  deregister(callback: number): Promise<void>;
}

/** Provides the current connection, as connections come and go. */
export interface EventRegistries {
  /** Absent while there is no connection. */
  current(): EventRegistry | undefined;
  /** The current connection, or the next one. */
  next(): Promise<EventRegistry>;
}

interface Subscription {
  readonly stream: EventStream;
  /** The registrations that it shares in. */
  readonly registrations: Registration[];
}

/** One event of one domain or of all; the daemon accepts it only once per connection. */
interface Registration {
  readonly type: EventType;
  readonly dom: DomainRef | undefined;
  readonly subscriptions: Set<Subscription>;
  /** Its number on the current connection. */
  callback: number | undefined;
}

/**
 * An event that arrived before the reply to its registration: the daemon does not keep them in
 * order.
 */
const earlyLimit = 64;

/**
 * Delivers the events of a connection to their subscribers, and registers again after a reconnect.
 */
export class EventHub {
  readonly #log: Log;
  readonly #metrics: Metrics;
  readonly #subscriptions = new Set<Subscription>();
  readonly #registrations = new Map<string, Registration>();
  readonly #byCallback = new Map<string, Registration>();
  #early: { key: string; event: DomainEvent }[] = [];
  #registering = 0;
  /** Registrations in progress: one at a time, because the daemon does not keep an order. */
  #busy: Promise<void> = Promise.resolve();

  constructor({ log = silentLog, metrics = noMetrics }: Observers = {}) {
    this.#log = log;
    this.#metrics = metrics;
  }

  /** Registers for events of one domain or of all; resolves when the daemon has accepted it. */
  async subscribe<Type extends EventType>(
    registries: EventRegistries,
    types: readonly Type[],
    dom: DomainRef | undefined,
    limit: number,
  ): Promise<EventStream<Type>> {
    const stream = new EventStream<EventType>(limit, async () => {
      this.#subscriptions.delete(subscription);
      await this.#inTurn(async () => await this.#leave(subscription, registries.current()));
    });
    const subscription: Subscription = { stream, registrations: [] };
    const registry = await registries.next();
    this.#subscriptions.add(subscription);
    try {
      await this.#inTurn(async () => {
        for (const type of types) await this.#join(subscription, type, dom, registry);
      });
    } catch (error) {
      // An older daemon may know only some of the events.
      await stream.return();
      throw error;
    }
    return stream as unknown as EventStream<Type>;
  }

  /** The connection is new: registers everything again, then informs each reader. */
  async resync(registry: EventRegistry): Promise<void> {
    await this.#inTurn(async () => {
      this.#byCallback.clear();
      this.#early = [];
      for (const [key, registration] of this.#registrations) {
        registration.callback = undefined;
        if (registration.subscriptions.size === 0) this.#registrations.delete(key);
        else await this.#register(registration, registry);
      }
    });
    for (const { stream } of this.#subscriptions) stream.push({ type: "resync" });
  }

  /** Handles the message of an event. An unregistered one is dropped: it may have been too late. */
  dispatch({ procedure }: MessageHeader, message: Buffer): void {
    const known = messages.get(procedure);
    if (!known) return;
    const reader = new XdrReader(message, headerBytes);
    const key = `${known.type} ${reader.i32()}`;
    const value = known.codec.read(reader) as object;
    if (reader.left > 0) throw malformed(`event ${known.type}: ${reader.left} bytes are left over`);
    const event = { type: known.type, ...value } as DomainEvent;
    const registration = this.#byCallback.get(key);
    if (registration) deliver(registration, event);
    else if (this.#registering > 0 && this.#early.length < earlyLimit) {
      this.#early.push({ key, event });
    } else this.#metrics.count("libvirt_events_dropped", { type: known.type });
  }

  /** Ends every stream. */
  end(error?: LibvirtError): void {
    for (const { stream } of this.#subscriptions) stream.end(error);
    this.#subscriptions.clear();
    this.#registrations.clear();
    this.#byCallback.clear();
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#busy.then(work);
    // The caller gets the error; it only must not hold up the next one.
    this.#busy = turn.catch(() => {});
    await turn;
  }

  async #join(
    subscription: Subscription,
    type: EventType,
    dom: DomainRef | undefined,
    registry: EventRegistry,
  ): Promise<void> {
    const key = `${type} ${dom?.uuid ?? ""}`;
    const known = this.#registrations.get(key);
    const registration = known ?? { type, dom, subscriptions: new Set(), callback: undefined };
    registration.subscriptions.add(subscription);
    subscription.registrations.push(registration);
    if (known) return;
    this.#registrations.set(key, registration);
    try {
      await this.#register(registration, registry);
    } catch (error) {
      this.#registrations.delete(key);
      throw error;
    }
  }

  async #register(registration: Registration, registry: EventRegistry): Promise<void> {
    const { type, dom } = registration;
    this.#registering++;
    try {
      await registry.register(events[type].id, dom, (callback) => {
        registration.callback = callback;
        this.#registered(`${type} ${callback}`, registration);
      });
    } finally {
      this.#registering--;
      if (this.#registering === 0) this.#early = [];
    }
  }

  #registered(key: string, registration: Registration): void {
    this.#byCallback.set(key, registration);
    for (const early of this.#early) {
      if (early.key === key) deliver(registration, early.event);
    }
    this.#early = this.#early.filter((early) => early.key !== key);
  }

  /**
   * Without a connection nothing can be unregistered: it is not registered again on the next one.
   */
  async #leave(subscription: Subscription, registry: EventRegistry | undefined): Promise<void> {
    for (const { type, dom, subscriptions, callback } of subscription.registrations) {
      subscriptions.delete(subscription);
      if (subscriptions.size > 0 || callback === undefined || !registry) continue;
      this.#registrations.delete(`${type} ${dom?.uuid ?? ""}`);
      this.#byCallback.delete(`${type} ${callback}`);
      await registry.deregister(callback).catch((error: unknown) => {
        this.#log.debug(
          { type, error: describeError(error) },
          "libvirt: an event stays registered",
        );
      });
    }
  }
}

function deliver({ subscriptions }: Registration, event: DomainEvent): void {
  for (const { stream } of subscriptions) stream.push(event);
}

const messages: ReadonlyMap<number, { type: EventType; codec: Codec }> = new Map(
  Object.entries(events).map(([type, { message, fields }]) => [
    message,
    { type: type as EventType, codec: structCodec(fields) },
  ]),
);
