import type { Duplex } from "node:stream";
import { encodeFrame, type Frame, FrameSplitter } from "../channel/frame.ts";
import { FrameWriter } from "../channel/frame-writer.ts";
import {
  answerBytes,
  type ClientMessage,
  channelVersions,
  commonVersion,
  helloBytes,
  type LauncherMessage,
  readLauncherMessage,
  requestBytes,
} from "../channel/messages.ts";
import { isLauncherError, LauncherError } from "../launcher-error.ts";

/** An answer with its attachment. */
export interface Answer {
  readonly message: LauncherMessage & { type: "answer" };
  readonly attachment: Buffer;
}

/** The outcome of a request. */
export interface Handlers {
  onAnswer(answer: Answer): void;
  onItem?(item: unknown): void;
  /** The connection has ended before the answer. */
  onLost(error: LauncherError): void;
}

/** One connection to a launcher: requests out, answers and items in, matched by id. */
export class ClientConnection {
  readonly #stream: Duplex;
  readonly #writer: FrameWriter;
  readonly #splitter = new FrameSplitter(helloBytes);
  readonly #open = new Map<number, Handlers>();
  readonly #waiting: { readonly frame: Buffer; readonly id: number }[] = [];
  /** Requests in flight, including those that nobody waits for any more. */
  readonly #sent = new Set<number>();
  #lastId = 0;
  #inFlight = 1;
  #ended: LauncherError | undefined;
  readonly #onClosed: () => void;
  readonly #hello: Promise<void>;
  #helloDone: { resolve(): void; reject(error: LauncherError): void } | undefined;

  constructor(stream: Duplex, software: string, onClosed: () => void) {
    this.#stream = stream;
    this.#writer = new FrameWriter(stream);
    this.#onClosed = onClosed;
    this.#hello = new Promise((resolve, reject) => {
      this.#helloDone = { resolve, reject };
    });
    // The opener of the connection gets the error; nobody else needs it.
    this.#hello.catch(() => {});
    stream.on("error", (cause) => this.end(closed("the connection broke", cause)));
    stream.on("close", () => this.end(closed("the launcher closed the connection")));
    stream.on("end", () => this.end(closed("the launcher closed the connection")));
    stream.on("data", (chunk: Buffer) => this.#receive(chunk));
    this.#write({ type: "hello", versions: channelVersions, software });
  }

  /** Settles when the launcher has said hello in a version that both speak. */
  get ready(): Promise<void> {
    return this.#hello;
  }

  get ended(): LauncherError | undefined {
    return this.#ended;
  }

  /**
   * Sends a request, at once or when the launcher accepts one more; returns its id. Throws if it is
   * too large.
   */
  request(verb: string, args: unknown, timeout: number | undefined, handlers: Handlers): number {
    if (this.#ended) throw this.#ended;
    if (this.#waiting.length >= maxWaiting) {
      const text = `${maxWaiting} requests are already waiting; the launcher is stuck, or these are too many at once`;
      throw new LauncherError("LAUNCHER_BUSY", text);
    }
    const id = ++this.#lastId;
    const frame = encodeFrame({
      type: "request",
      id,
      verb,
      ...(args === undefined ? {} : { args }),
      ...(timeout === undefined ? {} : { timeout }),
    } satisfies ClientMessage);
    if (frame.length > requestBytes) {
      const text = `${verb}: the request has ${frame.length} bytes; at most ${requestBytes} are sent`;
      throw new LauncherError("LAUNCHER_ARGUMENT", text, { path: verb });
    }
    this.#open.set(id, handlers);
    this.#waiting.push({ frame, id });
    this.#sendNext();
    return id;
  }

  /** Abandons a request; if it was not sent yet, it never is. */
  forget(id: number): void {
    this.#open.delete(id);
    const index = this.#waiting.findIndex((waiting) => waiting.id === id);
    if (index >= 0) this.#waiting.splice(index, 1);
    else if (this.#sent.has(id)) this.#write({ type: "cancel", id });
  }

  grant(id: number, count: number): void {
    if (this.#sent.has(id)) this.#write({ type: "credit", id, count });
  }

  /** Ends the connection. Does nothing the second time. */
  end(error: LauncherError): void {
    if (this.#ended) return;
    this.#ended = error;
    this.#stream.destroy();
    this.#helloDone?.reject(error);
    for (const handlers of this.#open.values()) handlers.onLost(error);
    this.#open.clear();
    this.#onClosed();
  }

  #sendNext(): void {
    while (this.#sent.size < this.#inFlight && !this.#helloDone) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#sent.add(next.id);
      this.#writer.write(next.frame);
    }
  }

  #write(message: ClientMessage): void {
    if (!this.#ended) this.#writer.write(encodeFrame(message));
  }

  #receive(chunk: Buffer): void {
    if (this.#ended) return;
    try {
      this.#splitter.push(chunk, (frame) => this.#handle(frame));
    } catch (error) {
      this.end(isLauncherError(error) ? error : protocol("a message could not be handled", error));
    }
  }

  #handle({ message: sent, attachment }: Frame): void {
    const message = readLauncherMessage(sent);
    if (!message || this.#ended) return;
    if (message.type === "fault") throw faulted(message);
    if (message.type === "hello") this.#welcome(message);
    else if (this.#helloDone) throw protocol(`"${message.type}" came before hello`);
    else if (message.type === "item") this.#open.get(message.id)?.onItem?.(message.item);
    else this.#answered({ message, attachment });
  }

  #answered(answer: Answer): void {
    const { id } = answer.message;
    if (!this.#sent.delete(id))
      throw protocol(`the launcher answered request ${id}, which was not made`);
    const handlers = this.#open.get(id);
    this.#open.delete(id);
    handlers?.onAnswer(answer);
    this.#sendNext();
  }

  #welcome({ versions, inFlight = 1 }: LauncherMessage & { type: "hello" }): void {
    const done = this.#helloDone;
    if (!done) throw protocol("hello came twice");
    if (commonVersion(versions) === undefined) {
      const text = `the launcher speaks versions ${versions.join(", ")} of the channel, this client ${channelVersions.join(", ")}; update the older side`;
      throw new LauncherError("LAUNCHER_VERSION", text);
    }
    this.#splitter.limit = answerBytes;
    this.#inFlight = inFlight;
    this.#helloDone = undefined;
    done.resolve();
    this.#sendNext();
  }
}

const maxWaiting = 1_024;

function faulted({ code, message }: LauncherMessage & { type: "fault" }): LauncherError {
  const known = code === "LAUNCHER_VERSION" ? code : "LAUNCHER_PROTOCOL";
  return new LauncherError(known, `the launcher ended the connection: ${message}`);
}

function protocol(message: string, cause?: unknown): LauncherError {
  return new LauncherError("LAUNCHER_PROTOCOL", message, { cause });
}

function closed(message: string, cause?: unknown): LauncherError {
  return new LauncherError("LAUNCHER_CLOSED", message, { cause });
}
