import type { Clock } from "@virtkit/api/clock";
import type { EventType, ObjectReference } from "./kube-event.ts";

/** What happened to an object. */
export interface Happening {
  readonly object: ObjectReference;
  readonly type: EventType;
  /** One word in CamelCase, for programs. */
  readonly reason: string;
  /** A sentence, for people. */
  readonly message: string;
}

/** A happening as it is written: once, with a count. */
export interface Aggregate extends Happening {
  /** The same for events that are counted together. */
  readonly key: string;
  count: number;
}

/** If one object and reason have more different messages than this, they become one event. As in client-go. */
const mostMessages = 10;
const window = 600_000;
/** Events of one object: how many at once, and then one per how many milliseconds. As in client-go. */
const burst = 25;
const refill = 300_000;
/** Objects and messages that are remembered. */
const mostRemembered = 4_096;
/** Longer messages are cut. */
const mostCharacters = 1_024;

/** Decides which events are counted together and which are too many; remembers a limited number of them. */
export class EventAggregator {
  readonly #clock: Clock;
  readonly #aggregates = new Map<string, Aggregate>();
  readonly #messages = new Map<string, { readonly since: number; readonly all: Set<string> }>();
  /** By object: when its allowance will be full again. */
  readonly #fullAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What to write, or `undefined`: this object has had its share. */
  take({ object, type, reason, message }: Happening): Aggregate | undefined {
    const who = [object.kind, object.namespace, object.name, object.uid].join("|");
    const kind = [who, type, reason].join("|");
    const cut = message.slice(0, mostCharacters);
    const isMany = this.#isOneOfMany(kind, cut);
    const key = isMany ? kind : `${kind}|${cut}`;
    if (this.#isTooMuch(who)) return undefined;
    const known = this.#aggregates.get(key);
    const told = isMany ? `(combined from similar events) ${cut}`.slice(0, mostCharacters) : cut;
    const aggregate = { key, object, type, reason, message: told, count: (known?.count ?? 0) + 1 };
    remember(this.#aggregates, key, aggregate);
    return aggregate;
  }

  #isOneOfMany(kind: string, message: string): boolean {
    const now = this.#clock.now();
    const known = this.#messages.get(kind);
    const recent =
      known && now - known.since < window ? known : { since: now, all: new Set<string>() };
    if (recent.all.size <= mostMessages) recent.all.add(message);
    remember(this.#messages, kind, recent);
    return recent.all.size > mostMessages;
  }

  #isTooMuch(who: string): boolean {
    const now = this.#clock.now();
    const fullAt = Math.max(this.#fullAt.get(who) ?? now, now) + refill;
    if (fullAt - now > burst * refill) return true;
    remember(this.#fullAt, who, fullAt);
    return false;
  }
}

/** Puts it at the end; the one that was used longest ago goes. */
function remember<T>(all: Map<string, T>, key: string, value: T): void {
  all.delete(key);
  all.set(key, value);
  if (all.size > mostRemembered) all.delete(all.keys().next().value ?? "");
}
