import { chmodSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { Transform } from "node:stream";

/** A socket that leads to another one, until it is broken. */
export class BreakableStream implements Disposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Bytes a second that pass. */
  limit: number = Number.POSITIVE_INFINITY;

  private constructor(from: string, to: string) {
    this.#server = createServer((near) => {
      const far = connect({ path: to });
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on("error", () => this.#end(near, far)).on("close", () => this.#end(near, far));
      }
      near.pipe(this.#throttle()).pipe(far).pipe(near);
    });
    this.#server.listen(from);
  }

  static async open(from: string, to: string): Promise<BreakableStream> {
    rmSync(from, { force: true });
    const stream = new BreakableStream(from, to);
    await new Promise((resolve) => stream.#server.once("listening", resolve));
    // QEMU is another user.
    chmodSync(from, 0o777);
    return stream;
  }

  /** Breaks what is connected now. */
  break(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  [Symbol.dispose](): void {
    this.break();
    this.#server.close();
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
