import { rm } from "node:fs/promises";
import { type Clock, realClock } from "@virtkit/api/clock";
import { describeError, type Log, type Metrics } from "@virtkit/api/observe";
import { hasErrno, type OwnedFd } from "@virtkit/host-primitives";
import {
  listenUnix,
  peerUser,
  receiveDescriptors,
  sendDescriptors,
  whenReadable,
} from "@virtkit/host-primitives/sockets";
import type { RunningServers } from "@virtkit/network-setup/serve";
import { failureOf } from "../channel/failure.ts";
import { type Handover, handoverBytes, readHandover } from "../client/handover-message.ts";

/** What a {@link HandoverServer} needs. */
export interface HandoverOptions {
  /** Path of the socket. */
  readonly path: string;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  readonly clock?: Clock;
}

/** Concurrent connections and messages: there is one node agent, and it asks once per interface. */
const idleMs = 10_000;

/**
 * Receives sockets that the node agent opened in the Pod's network, with privileges that this
 * process lacks, and answers the guest's DHCP and router requests on them.
 */
export class HandoverServer implements AsyncDisposable {
  readonly #options: HandoverOptions;
  readonly #clock: Clock;
  readonly #servers = new Map<string, RunningServers>();
  readonly #closing = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(options: HandoverOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
  }

  /** Networks that are served. */
  get networks(): readonly string[] {
    return [...this.#servers.keys()].sort();
  }

  async listen(): Promise<void> {
    await rm(this.#options.path, { force: true });
    const listener = listenUnix(this.#options.path, { type: "sequential" });
    this.#loop = this.#accept(listener.connections({ signal: this.#closing.signal }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#loop;
    await rm(this.#options.path, { force: true });
    for (const server of this.#servers.values()) await server[Symbol.asyncDispose]();
  }

  /** One connection at a time: there is one agent, and it sends little. */
  async #accept(connections: AsyncIterable<OwnedFd>): Promise<void> {
    try {
      for await (const connection of connections) await this.#answer(connection);
    } catch (error) {
      this.#options.log.error({ error: describeError(error) }, "the handover socket failed");
    }
  }

  async #answer(connection: OwnedFd): Promise<void> {
    try {
      await this.#serve(connection);
    } catch (error) {
      this.#options.log.warn({ error: describeError(error) }, "a handover failed");
    } finally {
      connection.close();
    }
  }

  async #serve(connection: OwnedFd): Promise<void> {
    const { uid } = peerUser(connection);
    if (uid !== 0 && uid !== process.getuid?.()) {
      this.#options.log.warn({ uid }, "refused a handover");
      return;
    }
    const idle = new AbortController();
    const timer = this.#clock.setTimeout(() => idle.abort(), idleMs);
    try {
      await this.#hear(connection, AbortSignal.any([this.#closing.signal, idle.signal]));
    } finally {
      this.#clock.clearTimeout(timer);
    }
  }

  async #hear(connection: OwnedFd, signal: AbortSignal): Promise<void> {
    for await (const _ of whenReadable(connection, { signal })) {
      const message = tryReceive(connection);
      if (!message) continue;
      const { data, descriptors } = message;
      if (data.length === 0) {
        for (const descriptor of descriptors) descriptor.close();
        return;
      }
      sendDescriptors(
        connection,
        Buffer.from(JSON.stringify(await this.#take(data, descriptors))),
        [],
      );
    }
  }

  async #take(data: Buffer, descriptors: readonly OwnedFd[]): Promise<object> {
    try {
      const handover = readHandover(data, descriptors);
      await this.#start(handover);
      this.#options.log.info({ network: handover.network }, "serves the guest's network");
      return { success: true };
    } catch (error) {
      for (const descriptor of descriptors) descriptor.close();
      return failureOf(error);
    }
  }

  /** New sockets of a network replace the old ones. */
  async #start({ network, sockets, servers, identity }: Handover): Promise<void> {
    // Loaded on use: a guest without our DHCP server does not pay for it.
    const { startGuestServers } = await import("@virtkit/network-setup/serve");
    const { log, metrics } = this.#options;
    const around = { clock: this.#clock, log, metrics };
    const running = await startGuestServers(sockets, servers, { ...identity, ...around });
    await this.#servers.get(network)?.[Symbol.asyncDispose]();
    this.#servers.set(network, running);
  }
}

/** The next message; undefined if there is none after all. */
function tryReceive(connection: OwnedFd): ReturnType<typeof receiveDescriptors> | undefined {
  try {
    return receiveDescriptors(connection, { maxBytes: handoverBytes, maxDescriptors: 3 });
  } catch (error) {
    if (hasErrno(error, "EAGAIN")) return undefined;
    throw error;
  }
}
