import { rename, rm } from "node:fs/promises";
import { Socket } from "node:net";
import { describeError, type Log, type Metrics } from "@virtkit/api/observe";
import type { OwnedFd } from "@virtkit/host-primitives";
import { listenUnix, peerUser } from "@virtkit/host-primitives/sockets";
import {
  type ServedConnection,
  type ServeOptions,
  serveConnection,
} from "../channel/serve-connection.ts";

/** What a {@link ChannelListener} needs. */
export interface ChannelListenerOptions extends ServeOptions {
  /** Name of the socket until the launcher is ready, and from then on. */
  readonly paths: { readonly init: string; readonly ready: string };
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
}

/** Connections that are served at a time. The node agent has one; a person who looks has another. */
const maxConnections = 16;

/** The launcher's command socket. Only root and the launcher's own user may connect. */
export class ChannelListener implements AsyncDisposable {
  readonly #options: ChannelListenerOptions;
  readonly #connections = new Set<ServedConnection>();
  readonly #closing = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(options: ChannelListenerOptions) {
    this.#options = options;
  }

  /** Listens on the first name. Removes both names if an earlier launcher left them. */
  async listen(): Promise<void> {
    const { init, ready } = this.#options.paths;
    for (const path of [init, ready]) await rm(path, { force: true });
    const listener = listenUnix(init);
    this.#loop = this.#accept(listener.connections({ signal: this.#closing.signal }));
  }

  /** Marks the launcher as ready: the socket gets its second name, atomically. */
  async ready(): Promise<void> {
    const { init, ready } = this.#options.paths;
    await rename(init, ready);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#loop;
    for (const connection of this.#connections) connection.close();
    const { init, ready } = this.#options.paths;
    for (const path of [init, ready]) await rm(path, { force: true });
  }

  async #accept(connections: AsyncIterable<OwnedFd>): Promise<void> {
    try {
      for await (const connection of connections) this.#tryTake(connection);
    } catch (error) {
      this.#options.log.error({ error: describeError(error) }, "the command socket failed");
    }
  }

  /** One failed connection is not a reason to refuse others. */
  #tryTake(connection: OwnedFd): void {
    try {
      this.#take(connection);
    } catch (error) {
      this.#options.log.warn({ error: describeError(error) }, "a connection failed");
      connection.close();
    }
  }

  #take(connection: OwnedFd): void {
    const { uid } = peerUser(connection);
    const { log, metrics } = this.#options;
    const known = uid === 0 || uid === process.getuid?.();
    if (!known || this.#connections.size >= maxConnections) {
      metrics?.count("launcher_connections", { outcome: "refused" });
      log.warn({ uid, connections: this.#connections.size }, "refused a connection");
      connection.close();
      return;
    }
    metrics?.count("launcher_connections", { outcome: "taken" });
    const socket = new Socket({ fd: connection.release(), readable: true, writable: true });
    const served = serveConnection(socket, this.#options);
    this.#connections.add(served);
    void served.ended.then(() => this.#connections.delete(served));
  }
}
