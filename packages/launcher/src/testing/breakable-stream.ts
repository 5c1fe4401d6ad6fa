import { chmodSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { Transform } from "node:stream";

/** A socket that leads to another one, until it is broken or blocked. */
export class BreakableStream implements Disposable {
  readonly #from: string;
  readonly #to: string;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  /** Bytes per second that pass. */
  limit: number = Number.POSITIVE_INFINITY;

  private constructor(from: string, to: string) {
    this.#from = from;
    this.#to = to;
  }

  static async open(from: string, to: string): Promise<BreakableStream> {
    const stream = new BreakableStream(from, to);
    await stream.#listen();
    return stream;
  }

  async #listen(): Promise<void> {
    rmSync(this.#from, { force: true });
    const server = createServer((near) => {
      const far = connect({ path: this.#to });
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on("error", () => this.#end(near, far)).on("close", () => this.#end(near, far));
      }
      near.pipe(this.#throttle()).pipe(far).pipe(near);
    });
    this.#server = server.listen(this.#from);
    await new Promise((resolve) => server.once("listening", resolve));
    // QEMU is another user.
    chmodSync(this.#from, 0o777);
  }

  /** Breaks what is connected now. */
  break(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Breaks all connections and stops listening; or listens again. */
  async block(isBlocked: boolean): Promise<void> {
    if (isBlocked) this[Symbol.dispose]();
    else await this.#listen();
  }

  [Symbol.dispose](): void {
    this.break();
    this.#server?.close();
    this.#server = undefined;
  }

  #throttle(): Transform {
    return new Transform({
      transform: (chunk: Buffer, _, pass) => {
        if (this.limit === Number.POSITIVE_INFINITY) return pass(null, chunk);
        setTimeout(() => pass(null, chunk), (chunk.length / this.limit) * 1000);
      },
    });
  }

  #end(...sockets: readonly Socket[]): void {
    for (const socket of sockets) {
      socket.destroy();
      this.#sockets.delete(socket);
    }
  }
}
