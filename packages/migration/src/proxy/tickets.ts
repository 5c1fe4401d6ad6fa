import { randomBytes } from "node:crypto";
import type { Clock } from "@virtkit/api/clock";
import type { ProxyLimits } from "./proxy-limits.ts";

/** Long enough that nobody can guess one. */
export const ticketBytes = 32;

/**
 * Admits a connection to a data channel, once. A peer gets a ticket over the control channel, where it has proven
 * its identity, and sends it before anything else. So nobody else reaches QEMU's socket, although the data itself
 * is not inspected.
 */
export class Tickets<T> {
  readonly #limits: ProxyLimits;
  readonly #clock: Clock;
  readonly #open: Map<string, { readonly value: T; readonly timer: unknown }> = new Map();

  constructor(limits: ProxyLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** A new ticket; undefined if too many are outstanding. It is valid for as long as a connection may take. */
  issue(value: T): Buffer | undefined {
    if (this.#open.size >= this.#limits.waiting) return undefined;
    const ticket = randomBytes(ticketBytes);
    const key = ticket.toString("hex");
    const timer = this.#clock.setTimeout(() => this.#open.delete(key), this.#limits.setup);
    this.#open.set(key, { value, timer });
    return ticket;
  }

  /** What a ticket is for; undefined if it is used, expired or invented. */
  take(ticket: Uint8Array): T | undefined {
    const key = Buffer.from(ticket).toString("hex");
    const found = this.#open.get(key);
    this.#open.delete(key);
    this.#clock.clearTimeout(found?.timer);
    return found?.value;
  }

  /** Invalidates all tickets. */
  close(): void {
    for (const { timer } of this.#open.values()) this.#clock.clearTimeout(timer);
    this.#open.clear();
  }
}
