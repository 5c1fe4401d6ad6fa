import { type OnReadOpts, Socket, type SocketConstructorOpts } from "node:net";
import type { OwnedFd } from "@virtkit/host-primitives";

/** One end of a stream: a socket, and how bytes that come from it reach the other end. */
export interface StreamEnd {
  readonly socket: Socket;
  /** Lets bytes flow into another socket, no faster than it accepts them. Reports how many, as they arrive. */
  flowInto(to: Socket, moved: (bytes: number) => void): void;
}

/** A socket created by Node. Each read allocates memory, which is good enough for little data. */
export function plainEnd(socket: Socket): StreamEnd {
  return {
    socket,
    flowInto: (to, moved) => {
      const resume = (): void => void socket.resume();
      socket.on("data", (chunk: Buffer) => {
        moved(chunk.length);
        if (to.write(chunk)) return;
        socket.pause();
        to.once("drain", resume);
      });
      socket.resume();
    },
  };
}

/** How much is read at once when there is much data: 64 KiB would cost a third more CPU per GiB. */
const largeBytes = 512 * 1024;
/** Before that: a peer that sends nothing, or not what it should, gets no more. */
const smallBytes = 4096;

/**
 * A connection that was accepted as a descriptor. It reads into one buffer again and again, so that a GiB takes
 * half the CPU time of a pipe and as little memory as a byte. Reads nothing until asked to.
 */
export class AcceptedEnd implements StreamEnd {
  readonly socket: Socket;
  readonly #head: Buffer;
  #headBytes = 0;
  #gotHead: (() => void) | undefined;
  #take: ((chunk: Uint8Array) => boolean) | undefined;
  #large: Buffer | undefined;

  /** @param headBytes how many bytes come before the stream; see {@link readHead} */
  constructor(connection: OwnedFd, { headBytes = 0 }: { readonly headBytes?: number } = {}) {
    this.#head = Buffer.alloc(headBytes);
    // Node's types of 20 lack the last one.
    const options: SocketConstructorOpts & { onread: OnReadOpts } = {
      fd: connection.release(),
      allowHalfOpen: true,
      onread: {
        buffer: () => this.#nextBuffer(),
        callback: (bytes, buffer) => this.#onRead(buffer.subarray(0, bytes)),
      },
    };
    this.socket = new Socket(options);
    this.socket.pause();
    // Users of the socket learn about its end from its close.
    this.socket.on("error", () => undefined);
  }

  /** What comes first; undefined if the peer ends before that. Read it once, before the rest flows. */
  async readHead(): Promise<Buffer | undefined> {
    const { socket } = this;
    await new Promise<void>((resolve) => {
      this.#gotHead = resolve;
      socket.once("end", resolve);
      socket.once("close", resolve);
      socket.resume();
    });
    return this.#headBytes === this.#head.length ? this.#head : undefined;
  }

  flowInto(to: Socket, moved: (bytes: number) => void): void {
    const { socket } = this;
    let waits = false;
    const written = (): void => {
      if (!waits || to.writableLength > 0) return;
      waits = false;
      socket.resume();
    };
    this.#take = (chunk) => {
      moved(chunk.length);
      to.write(chunk, written);
      // The buffer is in use until the kernel has accepted all of it.
      waits = to.writableLength > 0;
      return !waits;
    };
    socket.resume();
  }

  #onRead(chunk: Uint8Array): boolean {
    if (this.#take) return this.#take(chunk);
    this.#headBytes += chunk.length;
    if (this.#headBytes < this.#head.length) return true;
    this.#gotHead?.();
    return false;
  }

  /** Where the next bytes go. Node asks after each read, including the last one before a pause. */
  #nextBuffer(): Buffer {
    if (this.#headBytes < this.#head.length) return this.#head.subarray(this.#headBytes);
    if (!this.#take) return Buffer.allocUnsafeSlow(smallBytes);
    this.#large ??= Buffer.allocUnsafeSlow(largeBytes);
    return this.#large;
  }
}
