import type { Duplex } from "node:stream";
import type { Clock } from "@virtkit/api/clock";
import { isLibvirtError, LibvirtError } from "../libvirt-error.ts";
import {
  headerBytes,
  keepaliveProcedures,
  type MessageHeader,
  messageStatus,
  messageTypes,
  programs,
  readError,
  readHeader,
  writeHeader,
} from "../protocol/message.ts";
import { malformed } from "../xdr/xdr-reader.ts";
import { FairQueue } from "./fair-queue.ts";
import { MessageSplitter } from "./message-splitter.ts";
import { type CallHooks, type CallOptions, PendingCall } from "./pending-call.ts";
import type { RpcProcedure } from "./rpc-procedure.ts";
import { RpcStream } from "./rpc-stream.ts";

/** How a {@link RpcConnection} behaves. */
export interface RpcOptions {
  readonly clock: Clock;
  /** Calls that the daemon works on at a time. */
  readonly maxInFlight: number;
  /** Calls that wait for their turn. */
  readonly maxQueued: number;
  /** How long the rest of a message may take after its beginning. */
  readonly messageTimeout: number;
  /** Pings after this many silent milliseconds, and how many may stay unanswered. */
  readonly keepalive: { readonly interval: number; readonly misses: number } | undefined;
  /** Called for an event's message, before anything that the daemon sent later. */
  onEvent(header: MessageHeader, message: Buffer): void;
  /** The connection has ended; called once. Undefined: it was closed on purpose. */
  onEnd(error: LibvirtError | undefined): void;
}

/** One connection to a libvirtd: messages out, messages in, each matched by its serial number. */
export class RpcConnection {
  readonly #socket: Duplex;
  readonly #options: RpcOptions;
  readonly #splitter = new MessageSplitter();
  readonly #queue = new FairQueue<PendingCall>();
  /** Calls in flight, including those that nobody waits for any more: they hold a place. */
  readonly #inFlight = new Map<number, PendingCall>();
  readonly #streams = new Map<number, RpcStream>();
  #serial = 0;
  #ended: LibvirtError | undefined;
  #corked = false;
  #messageTimer: unknown;
  #keepaliveTimer: unknown;
  #unanswered = 0;

  constructor(socket: Duplex, options: RpcOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on("error", (cause) => this.#end(closed("the connection broke", cause)));
    socket.on("close", () => this.#end(closed("the daemon closed the connection")));
    socket.on("end", () => this.#end(closed("the daemon closed the connection")));
    this.#armKeepalive();
  }

  /** Whether the daemon has answered everything. */
  get idle(): boolean {
    return this.#inFlight.size === 0;
  }

  /**
   * Calls a procedure. Rejects only with {@link LibvirtError}. After a timeout or an abort the
   * daemon may still carry out the call; until it answers, the call keeps its place among those in
   * flight.
   */
  call(
    procedure: RpcProcedure,
    args: unknown,
    options: CallOptions,
    { onSend, onReply }: CallHooks = {},
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#ended) {
        reject(this.#ended.during(procedure.name));
        return;
      }
      const pending = this.#pending(procedure, args, reject);
      if (!pending) return;
      pending.onSend = onSend;
      pending.onReply = onReply;
      pending.start(resolve, reject, options, this.#options.clock, (call) =>
        this.#queue.remove(call.lane, call),
      );
      if (pending.settled) return;
      this.#queue.add(pending.lane, pending);
      this.#sendNext();
    });
  }

  /**
   * Calls a procedure that opens a stream; the stream lives until it ends or is ended. It exists as
   * soon as the call is sent: the daemon feeds a stream in another thread than the one that
   * replies, so its first packets may arrive before the reply.
   */
  async stream(
    procedure: RpcProcedure,
    args: unknown,
    options: CallOptions,
  ): Promise<{ result: unknown; stream: RpcStream }> {
    const opened: RpcStream[] = [];
    const onSend = (serial: number): void => {
      opened.push(this.#openStream(procedure, serial));
    };
    try {
      const result = await this.call(procedure, args, options, { onSend });
      const [stream] = opened;
      if (!stream) throw closed("the stream was never opened");
      return { result, stream };
    } catch (error) {
      for (const stream of opened) stream.forget();
      throw error;
    }
  }

  /** Asks for a sign of life. Any message counts. */
  ping(): void {
    this.#unanswered++;
    this.#writeMessage(Buffer.alloc(headerBytes), {
      program: programs.keepalive,
      procedure: keepaliveProcedures.ping,
      type: messageTypes.event,
      serial: 0,
      status: messageStatus.ok,
    });
  }

  /** Ends the connection; every waiting call fails. Does nothing the second time. */
  close(): void {
    this.#end(closed("this client closed the connection"), true);
  }

  #pending(
    procedure: RpcProcedure,
    args: unknown,
    reject: (error: unknown) => void,
  ): PendingCall | undefined {
    if (this.#queue.size >= this.#options.maxQueued) {
      const text = `${procedure.name}: ${this.#queue.size} calls are already waiting; the daemon is stuck, or these are too many at once`;
      reject(new LibvirtError("LIBVIRT_BUSY", text, { procedure: procedure.name }));
      return undefined;
    }
    try {
      return new PendingCall(procedure, procedure.encode(args), procedure.laneOf(args));
    } catch (error) {
      reject(error);
      return undefined;
    }
  }

  #sendNext(): void {
    while (this.#inFlight.size < this.#options.maxInFlight && !this.#ended) {
      const pending = this.#queue.take();
      if (!pending) return;
      const serial = this.#nextSerial();
      this.#inFlight.set(serial, pending);
      pending.onSend?.(serial);
      this.#writeMessage(pending.message, {
        program: pending.procedure.program,
        procedure: pending.procedure.number,
        type: messageTypes.call,
        serial,
        status: messageStatus.ok,
      });
    }
  }

  #nextSerial(): number {
    do this.#serial = (this.#serial + 1) >>> 0 || 1;
    while (this.#inFlight.has(this.#serial) || this.#streams.has(this.#serial));
    return this.#serial;
  }

  /** Everything written in one turn of the event loop leaves as one packet. */
  #writeMessage(message: Buffer, header: MessageHeader): void {
    writeHeader(message, header);
    if (!this.#corked) {
      this.#corked = true;
      this.#socket.cork();
      queueMicrotask(() => {
        this.#corked = false;
        this.#socket.uncork();
      });
    }
    this.#socket.write(message);
  }

  /** Handles received bytes; keeps nothing of the chunk. */
  receive(chunk: Buffer): void {
    if (this.#ended) return;
    this.#unanswered = 0;
    try {
      this.#splitter.push(chunk, (message) => this.#handle(message));
    } catch (error) {
      this.#end(isLibvirtError(error) ? error : closed("a message could not be handled", error));
    }
    this.#armMessageTimer();
  }

  #handle(message: Buffer): void {
    if (this.#ended) return;
    const header = readHeader(message);
    if (header.type === messageTypes.reply) this.#handleReply(header, message);
    else if (header.type === messageTypes.event) this.#handleEvent(header, message);
    else if (header.type === messageTypes.stream) this.#handleStream(header, message);
    // Replies with file descriptors have bytes outside their length: there is no way to continue.
    else throw malformed(`a message has the unsupported type ${header.type}`);
  }

  #handleReply(header: MessageHeader, message: Buffer): void {
    const pending = this.#inFlight.get(header.serial);
    if (!pending) throw malformed(`a reply answers call ${header.serial}, which was not made`);
    this.#inFlight.delete(header.serial);
    pending.answer(header, message);
    this.#sendNext();
  }

  #handleEvent(header: MessageHeader, message: Buffer): void {
    if (header.program !== programs.keepalive) {
      this.#options.onEvent(header, message);
      return;
    }
    if (header.procedure !== keepaliveProcedures.ping) return;
    const pong = { ...header, procedure: keepaliveProcedures.pong };
    this.#writeMessage(Buffer.alloc(headerBytes), pong);
  }

  #handleStream(header: MessageHeader, message: Buffer): void {
    // The rest of an abandoned stream may still be on its way.
    const stream = this.#streams.get(header.serial);
    if (!stream) return;
    if (header.status === messageStatus.error) {
      stream.fail(readError(message, stream.procedure));
    } else {
      stream.take(header.status, message.subarray(headerBytes));
    }
  }

  #openStream(procedure: RpcProcedure, serial: number): RpcStream {
    const send = (status: number, data: Uint8Array): boolean => {
      if (this.#ended) throw this.#ended;
      const message = Buffer.allocUnsafe(headerBytes + data.length);
      message.set(data, headerBytes);
      const { program, number } = procedure;
      this.#writeMessage(message, {
        program,
        procedure: number,
        type: messageTypes.stream,
        serial,
        status,
      });
      return !this.#socket.writableNeedDrain;
    };
    const stream = new RpcStream(procedure.name, {
      send,
      drained: () => new Promise((resolve) => this.#socket.once("drain", resolve)),
      pause: () => this.#socket.pause(),
      resume: () => this.#socket.resume(),
      forget: () => this.#streams.delete(serial),
    });
    this.#streams.set(serial, stream);
    return stream;
  }

  #armMessageTimer(): void {
    const { clock, messageTimeout } = this.#options;
    if (this.#messageTimer !== undefined) clock.clearTimeout(this.#messageTimer);
    this.#messageTimer = undefined;
    if (!this.#splitter.incomplete || this.#ended) return;
    this.#messageTimer = clock.setTimeout(() => {
      const text = `the daemon sent the beginning of a message and nothing for ${messageTimeout} ms`;
      this.#end(malformed(text));
    }, messageTimeout);
  }

  #armKeepalive(): void {
    const { clock, keepalive } = this.#options;
    if (!keepalive) return;
    this.#keepaliveTimer = clock.setTimeout(() => {
      if (this.#unanswered >= keepalive.misses) {
        this.#end(closed(`the daemon left ${keepalive.misses} keepalive messages unanswered`));
      } else {
        this.ping();
        this.#armKeepalive();
      }
    }, keepalive.interval);
  }

  #end(error: LibvirtError, onPurpose = false): void {
    if (this.#ended) return;
    this.#ended = error;
    this.#options.clock.clearTimeout(this.#messageTimer);
    this.#options.clock.clearTimeout(this.#keepaliveTimer);
    if (onPurpose) this.#socket.end(() => this.#socket.destroy());
    else this.#socket.destroy();
    for (const pending of this.#inFlight.values()) pending.fail(error);
    for (let call = this.#queue.take(); call; call = this.#queue.take()) call.fail(error);
    for (const stream of this.#streams.values()) stream.fail(error);
    this.#inFlight.clear();
    this.#streams.clear();
    this.#options.onEnd(onPurpose ? undefined : error);
  }
}

function closed(message: string, cause?: unknown): LibvirtError {
  return new LibvirtError("LIBVIRT_CLOSED", message, { cause });
}
