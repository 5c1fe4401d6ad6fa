import { LibvirtError } from "../libvirt-error.ts";
import { messageStatus } from "../protocol/message.ts";

/** What a stream needs of its connection. */
export interface StreamTransport {
  /** Sends a packet; false if the socket wants a pause. */
  send(status: number, data: Uint8Array): boolean;
  drained(): Promise<unknown>;
  pause(): void;
  resume(): void;
  forget(): void;
}

/** Unread packets; beyond this the connection is not read either. */
const bufferLimit = 1 << 20;

/** Bytes per packet that a client writes; the limit of old daemons is 262,120. */
const packetLimit = 65_536;

const nothing = new Uint8Array(0);

/**
 * Bytes in both directions over one connection, as for a console, or only from the daemon, as for a
 * screenshot. Iterating reads until the daemon's end of file. A slow reader stops the connection,
 * so a stream has its own.
 */
export class RpcStream implements AsyncIterable<Buffer>, AsyncDisposable {
  readonly procedure: string;
  /** Called once, when the stream has ended in any way. */
  onEnd: (() => void) | undefined;
  readonly #transport: StreamTransport;
  #packets: Buffer[] = [];
  #buffered = 0;
  #paused = false;
  #error: LibvirtError | undefined;
  #endOfFile = false;
  #finishing = false;
  #finished = false;
  #wake: (() => void)[] = [];

  constructor(procedure: string, transport: StreamTransport) {
    this.procedure = procedure;
    this.#transport = transport;
  }

  /** Sends bytes to the daemon; resolves when there is room for more. */
  async write(data: Uint8Array | string): Promise<void> {
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    for (let from = 0; from < bytes.length; from += packetLimit) {
      this.#assertOpen();
      const room = this.#transport.send(
        messageStatus.more,
        bytes.subarray(from, from + packetLimit),
      );
      if (!room) await this.#transport.drained();
    }
  }

  /** Ends the stream in an orderly way and waits for the daemon's confirmation. */
  async finish(): Promise<void> {
    if (this.#finished) return;
    this.#assertOpen();
    this.#sendFinish();
    while (!this.#finished && !this.#error) await this.#change();
    if (this.#error) throw this.#error;
  }

  /** Ends the stream at once; data still in transit is dropped. Does nothing after the end. */
  abort(): void {
    if (this.#finished || this.#error) return;
    try {
      this.#transport.send(messageStatus.error, nothing);
    } finally {
      this.fail(new LibvirtError("LIBVIRT_CLOSED", `${this.procedure}: the stream was aborted`));
    }
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Buffer> {
    for (;;) {
      const packet = this.#packets.shift();
      if (packet) {
        this.#release(packet.length);
        yield packet;
      } else if (this.#error) {
        throw this.#error;
      } else if (this.#endOfFile || this.#finished) {
        return await this.finish();
      } else {
        await this.#change();
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.abort();
  }

  /** A packet of the daemon. An empty one that announces more is the end of file. */
  take(status: number, data: Buffer): void {
    if (status === messageStatus.ok) {
      this.#finished = true;
      this.#over();
    } else if (data.length === 0) {
      this.#endOfFile = true;
    } else {
      // The memory behind it belongs to the socket.
      this.#packets.push(Buffer.from(data));
      this.#buffered += data.length;
      if (this.#buffered > bufferLimit && !this.#paused) {
        this.#paused = true;
        this.#transport.pause();
      }
    }
    this.#notify();
  }

  /** The stream has failed; readers and writers get the error. */
  fail(error: LibvirtError): void {
    this.#error ??= error;
    this.#over();
    this.#notify();
  }

  /** The call that should open it has failed: drop what still comes for it. */
  forget(): void {
    this.#transport.forget();
  }

  #over(): void {
    const onEnd = this.onEnd;
    this.onEnd = undefined;
    this.#transport.forget();
    onEnd?.();
  }

  #release(length: number): void {
    this.#buffered -= length;
    if (!this.#paused || this.#buffered > bufferLimit / 2) return;
    this.#paused = false;
    this.#transport.resume();
  }

  #sendFinish(): void {
    if (this.#finishing) return;
    this.#finishing = true;
    this.#transport.send(messageStatus.ok, nothing);
  }

  #assertOpen(): void {
    if (this.#error) throw this.#error;
    if (!this.#finished) return;
    throw new LibvirtError("LIBVIRT_CLOSED", `${this.procedure}: the stream has ended`);
  }

  async #change(): Promise<void> {
    await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  #notify(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}
