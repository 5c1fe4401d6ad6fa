import { createServer, type Server } from "node:net";
import { type ControlHandler, ControlLink } from "./control-link.ts";

/** Concurrent connections of a peer: the proxy's, and one that is reopened after a loss. */
const maxConnections = 8;

/** Answers the other launcher of a migration on a unix socket, on as many connections as it makes over time. */
export class ControlServer {
  readonly #server: Server;
  /** Only those that are open: a peer may reconnect any number of times while a migration lasts. */
  readonly #links = new Set<ControlLink>();

  private constructor(handler: ControlHandler) {
    this.#server = createServer((socket) => {
      const link = new ControlLink(socket, { handler });
      this.#links.add(link);
      void link.closed.then(() => this.#links.delete(link));
    });
    this.#server.maxConnections = maxConnections;
  }

  /** Resolves when it listens; rejects if the path is not available. */
  static async listen(path: string, handler: ControlHandler): Promise<ControlServer> {
    const served = new ControlServer(handler);
    const server = served.#server;
    await new Promise<void>((resolve, reject) => {
      // Later it is a failed accept, for example for lack of descriptors: that peer sees its connection end.
      server.on("error", reject);
      server.listen(path, () => resolve());
    });
    return served;
  }

  /** How many links it holds. */
  get links(): number {
    return this.#links.size;
  }

  /** Stops listening and ends every link. */
  close(): void {
    this.#server.close();
    for (const link of this.#links) link.close();
  }
}
