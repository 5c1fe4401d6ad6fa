import { EventStream } from "./event-stream.ts";
import type { LibvirtError } from "./libvirt-error.ts";
import { type DomainEvent, type EventType, events } from "./protocol/events.ts";
import { headerBytes, type MessageHeader } from "./protocol/message.ts";
import type { Codec } from "./xdr/codec.ts";
import { structCodec } from "./xdr/codec-for.ts";
import { malformed, XdrReader } from "./xdr/xdr-reader.ts";

/** A domain as calls and events name it. */
export interface DomainRef {
  readonly name: string;
  readonly uuid: string;
  readonly id: number;
}

/** What the hub needs of the connection that is up at the moment. */
export interface EventRegistry {
  /** Registers; the callback gets the number while the reply is handled, before any event after it. */
  register(
    event: number,
    dom: DomainRef | undefined,
    onReply: (callback: number) => void,
  ): Promise<void>;
  deregister(callback: number): Promise<void>;
}

/** Connections come and go; this tells which one there is. */
export interface EventRegistries {
  /** Absent while there is no connection. */
  current(): EventRegistry | undefined;
  /** The one there is, or the next one. */
  next(): Promise<EventRegistry>;
}

interface Subscription {
  readonly types: readonly EventType[];
  readonly dom: DomainRef | undefined;
  readonly stream: EventStream;
  /** Numbers of its registrations on the connection that is up. */
  callbacks: number[];
}

/** An event that came before the reply to its registration: the daemon does not keep them in order. */
const earlyLimit = 64;

/** Brings the events of a connection to those who asked for them, and asks again after a reconnect. */
export class EventHub {
  readonly #subscriptions = new Set<Subscription>();
  readonly #byCallback = new Map<string, Subscription>();
  #early: { key: string; event: DomainEvent }[] = [];
  #registering = 0;

  /** Registers for events of one domain or of all; resolves when the daemon has taken it. */
  async subscribe<Type extends EventType>(
    registries: EventRegistries,
    types: readonly Type[],
    dom: DomainRef | undefined,
    limit: number,
  ): Promise<EventStream<Type>> {
    const stream = new EventStream<EventType>(limit, async () => {
      this.#subscriptions.delete(subscription);
      await this.#deregister(subscription, registries.current());
    });
    const subscription: Subscription = { types, dom, stream, callbacks: [] };
    const registry = await registries.next();
    this.#subscriptions.add(subscription);
    try {
      await this.#register(subscription, registry);
    } catch (error) {
      // A daemon that is older may know some of the events and not all.
      await stream.return();
      throw error;
    }
    return stream as unknown as EventStream<Type>;
  }

  /** The connection is new: registers everything again, then says so to each reader. */
  async resync(registry: EventRegistry): Promise<void> {
    this.#byCallback.clear();
    this.#early = [];
    for (const subscription of this.#subscriptions) {
      subscription.callbacks = [];
      await this.#register(subscription, registry);
    }
    for (const { stream } of this.#subscriptions) stream.push({ type: "resync" });
  }

  /** The message of an event. One that nobody registered for is dropped: it may have been too late. */
  dispatch({ procedure }: MessageHeader, message: Buffer): void {
    const known = messages.get(procedure);
    if (!known) return;
    const reader = new XdrReader(message, headerBytes);
    const key = `${known.type} ${reader.i32()}`;
    const value = known.codec.read(reader) as object;
    if (reader.left > 0) throw malformed(`event ${known.type}: ${reader.left} bytes are left over`);
    const event = { type: known.type, ...value } as DomainEvent;
    const subscription = this.#byCallback.get(key);
    if (subscription) subscription.stream.push(event);
    else if (this.#registering > 0 && this.#early.length < earlyLimit) {
      this.#early.push({ key, event });
    }
  }

  /** Ends every stream. */
  end(error?: LibvirtError): void {
    for (const { stream } of this.#subscriptions) stream.end(error);
    this.#subscriptions.clear();
    this.#byCallback.clear();
  }

  async #register(subscription: Subscription, registry: EventRegistry): Promise<void> {
    this.#registering++;
    try {
      for (const type of subscription.types) {
        await registry.register(events[type].id, subscription.dom, (callback) => {
          subscription.callbacks.push(callback);
          this.#registered(`${type} ${callback}`, subscription);
        });
      }
    } finally {
      this.#registering--;
      if (this.#registering === 0) this.#early = [];
    }
  }

  #registered(key: string, subscription: Subscription): void {
    this.#byCallback.set(key, subscription);
    for (const early of this.#early) {
      if (early.key === key) subscription.stream.push(early.event);
    }
    this.#early = this.#early.filter((early) => early.key !== key);
  }

  /** What cannot be taken back is gone with its connection. */
  async #deregister(
    { types, callbacks }: Subscription,
    registry: EventRegistry | undefined,
  ): Promise<void> {
    for (const [index, callback] of callbacks.entries()) {
      this.#byCallback.delete(`${types[index]} ${callback}`);
      await registry?.deregister(callback).catch(() => {});
    }
  }
}

const messages: ReadonlyMap<number, { type: EventType; codec: Codec }> = new Map(
  Object.entries(events).map(([type, { message, fields }]) => [
    message,
    { type: type as EventType, codec: structCodec(fields) },
  ]),
);
