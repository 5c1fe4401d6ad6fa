import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { realClock } from "@virtkit/api/clock";
import type { Connection } from "../client/connection.ts";
import { LineSplitter } from "../client/line-splitter.ts";
import { RequestScope } from "../client/request-scope.ts";
import { Transport } from "../client/transport.ts";

/** What happens to the lines of a watch; `undefined` in between: the connection is cut there. */
export type LineFault = (
  line: string,
) => readonly (string | undefined)[] | Promise<readonly (string | undefined)[]>;

const untouched: LineFault = (line) => [`${line}\n`];

/** A proxy between a client and an API server, which does to watches what networks and proxies do. */
export class FaultProxy implements AsyncDisposable {
  /** By default nothing. */
  fault: LineFault = untouched;
  /** How many watches have begun. */
  watches = 0;
  #isDown = false;
  readonly #server: Server;
  readonly #target: Transport;
  readonly #sockets = new Set<Socket>();
  readonly #stop = new AbortController();

  private constructor(target: Connection) {
    this.#target = new Transport(target, realClock, 2 ** 28);
    this.#server = createServer((request, response) => {
      this.#forward(request, response).catch(
        // The client or the server has closed its side, so the other one is closed, too.
        () => response.destroy(),
      );
    });
    this.#server.on("connection", (socket) => {
      if (this.#isDown) socket.destroy();
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  static async start(target: Connection): Promise<FaultProxy> {
    const proxy = new FaultProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get connection(): Connection {
    const { port } = this.#server.address() as AddressInfo;
    return { server: `http://127.0.0.1:${port}`, credentials: async () => ({}) };
  }

  /** Ends all connections, and accepts no new ones until it is healed. */
  goDown(): void {
    this.#isDown = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** No more faults. */
  heal(): void {
    this.fault = untouched;
    this.#isDown = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    for (const socket of this.#sockets) socket.destroy();
    this.#target.close();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "/" } = request;
    const isWatch = url.includes("watch=true");
    if (isWatch) this.watches++;
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const signal = AbortSignal.any([gone.signal, this.#stop.signal]);
    const headers = { accept: "application/json" };
    using scope = new RequestScope(url, realClock, 60_000, signal);
    const answer = await this.#target.open({ method, path: url, headers }, scope);
    scope.started();
    response.writeHead(answer.statusCode ?? 500, { "content-type": "application/json" });
    response.flushHeaders();
    if (!isWatch || answer.statusCode !== 200) {
      for await (const chunk of answer) response.write(chunk);
      response.end();
      return;
    }
    const lines = new LineSplitter(2 ** 24);
    for await (const chunk of answer) {
      for (const line of lines.push(chunk as Buffer)) await this.#pass(line, response);
    }
    response.end();
  }

  async #pass(line: string, response: ServerResponse): Promise<void> {
    for (const part of await this.fault(line)) {
      if (part === undefined) {
        // Only once it has been sent can the rest be missing.
        await new Promise((resolve) => response.write("", resolve));
        response.destroy();
        throw new Error("cut");
      }
      response.write(part);
    }
  }
}
