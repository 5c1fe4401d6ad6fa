import type { Socket } from "node:net";
import { onTestFinished } from "vitest";
import { encodeFrame, type Frame, FrameSplitter } from "../channel/frame.ts";
import { type ServeOptions, serveConnection } from "../channel/serve-connection.ts";
import { info } from "./channel-fixture.ts";
import { connectedPair } from "./connected-pair.ts";
import { MemoryGuest } from "./memory-guest.ts";

/** One end of a channel, frame by frame, without a client. */
export class RawEnd {
  readonly #socket: Socket;
  readonly #frames: Frame[] = [];
  #wake = (): void => {};
  #ended = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    const splitter = new FrameSplitter(64 * 1024 * 1024);
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      splitter.push(chunk, (frame) => this.#frames.push(frame));
      this.#wake();
    });
    socket.on("close", () => {
      this.#ended = true;
      this.#wake();
    });
  }

  send(message: object, attachment?: Uint8Array): void {
    this.#socket.write(encodeFrame(message, attachment));
  }

  sendBytes(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  /** The next frame; undefined if the other side has ended the connection. */
  async next(): Promise<Frame | undefined> {
    while (this.#frames.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#frames.shift();
  }

  /** The message of the next frame. */
  async message(): Promise<Record<string, unknown> | undefined> {
    return (await this.next())?.message as Record<string, unknown> | undefined;
  }

  /** Stops writing, and still reads. */
  finish(): void {
    this.#socket.end();
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** A served guest in memory, and the other end without a client. */
export async function rawServer(
  options: Partial<ServeOptions> = {},
): Promise<{ readonly guest: MemoryGuest; readonly end: RawEnd; readonly ended: Promise<void> }> {
  const guest = new MemoryGuest();
  const { client, server } = await connectedPair();
  const { ended } = serveConnection(server, { control: guest, info: () => info, ...options });
  const end = new RawEnd(client);
  onTestFinished(() => end.close());
  return { guest, end, ended };
}

/** A launcher's end without a launcher, and a dialer of it. */
export async function rawLauncher(): Promise<{
  readonly end: RawEnd;
  readonly dial: () => Promise<Socket>;
}> {
  const { client, server } = await connectedPair();
  const end = new RawEnd(server);
  onTestFinished(() => end.close());
  return { end, dial: async () => client };
}
