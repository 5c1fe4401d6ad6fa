import type { Duplex } from "node:stream";
import { type Clock, realClock } from "@virtkit/api/clock";
import type { GuestControl } from "@virtkit/domain-manager";
import { isLauncherError, LauncherError } from "../launcher-error.ts";
import type { MigrationVerbs } from "../migration/migration-verbs.ts";
import { fields, whole } from "./check.ts";
import { type Failure, failureOf } from "./failure.ts";
import { encodeFrame, FrameSplitter } from "./frame.ts";
import { FrameWriter } from "./frame-writer.ts";
import type { LauncherInfo } from "./launcher-info.ts";
import {
  answerBytes,
  type ClientMessage,
  channelVersions,
  commonVersion,
  helloBytes,
  type LauncherMessage,
  readClientMessage,
  requestBytes,
} from "./messages.ts";
import { ServerStream } from "./server-stream.ts";
import { carryOut, deadlineOf, readArgs, type Verb, type VerbAnswer } from "./verb.ts";
import { findVerb } from "./verbs.ts";

/** What {@link serveConnection} serves, and its limits. */
export interface ServeOptions {
  readonly control: GuestControl;
  info(): LauncherInfo;
  /** Carries out the verbs of a migration; without it they are refused. */
  readonly migrations?: MigrationVerbs | undefined;
  /** Requests and streams that one connection may have open. Default 16. */
  readonly maxInFlight?: number;
  /** Events that are buffered for a slow reader. Default 256. */
  readonly maxQueuedEvents?: number;
  /** Milliseconds for the client to say hello. Default 10,000. */
  readonly helloTimeout?: number;
  readonly clock?: Clock;
  /** Receives errors that are defects of the launcher. */
  onDefect?(verb: string, error: unknown): void;
}

/** A connection that is being served. */
export interface ServedConnection {
  /** Resolves when the connection has ended for any reason. Never rejects. */
  readonly ended: Promise<void>;
  /** Ends it, and aborts what runs for the client. */
  close(): void;
}

/**
 * Serves the channel on a connection until either side ends it. The caller decides who may connect.
 *
 * A client that breaks the protocol gets the reason and is disconnected; nothing that it sends throws or
 * allocates more than the channel's limits. A request is answered at its deadline even if the work continues;
 * it counts as in flight until the work has ended, too.
 */
export function serveConnection(stream: Duplex, options: ServeOptions): ServedConnection {
  return new ServerConnection(stream, options);
}

/** How long a closed connection waits until its last message is read. */
const lingerMs = 1_000;
const checkCredit = fields({ credit: whole(0, 65_536) });

class ServerConnection implements ServedConnection {
  readonly ended: Promise<void>;
  readonly #stream: Duplex;
  readonly #writer: FrameWriter;
  readonly #options: ServeOptions;
  readonly #clock: Clock;
  readonly #splitter = new FrameSplitter(helloBytes);
  readonly #running = new Map<number, AbortController>();
  readonly #streams = new Map<number, ServerStream>();
  #version: number | undefined;
  #over = false;
  readonly #helloTimer: unknown;

  constructor(stream: Duplex, options: ServeOptions) {
    this.#stream = stream;
    this.#writer = new FrameWriter(stream);
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    const { helloTimeout = 10_000 } = options;
    this.#helloTimer = this.#clock.setTimeout(() => {
      this.#fault(protocol(`no hello arrived within ${helloTimeout} ms`));
    }, helloTimeout);
    this.ended = new Promise((resolve) => stream.once("close", () => resolve(this.#end())));
    stream.on("error", () => stream.destroy());
    stream.on("end", () => stream.destroy());
    stream.on("drain", () => this.#drained());
    stream.on("data", (chunk: Buffer) => this.#receive(chunk));
  }

  close(): void {
    this.#end();
    // The client may still read the last message; one that does not read is not waited for.
    const timer = this.#clock.setTimeout(() => this.#stream.destroy(), lingerMs);
    this.#stream.once("close", () => this.#clock.clearTimeout(timer));
    this.#stream.end(() => this.#stream.destroy());
  }

  #end(): void {
    this.#over = true;
    this.#clock.clearTimeout(this.#helloTimer);
    for (const controller of this.#running.values()) controller.abort(gone());
  }

  #receive(chunk: Buffer): void {
    if (this.#over) return;
    try {
      this.#splitter.push(chunk, ({ message }) => {
        const read = this.#over ? undefined : readClientMessage(message);
        if (read) this.#handle(read);
      });
    } catch (error) {
      this.#fault(isLauncherError(error) ? error : protocol("a message could not be handled"));
    }
  }

  #handle(message: ClientMessage): void {
    if (message.type === "hello") this.#hello(message.versions);
    else if (this.#version === undefined) throw protocol(`"${message.type}" came before hello`);
    else if (message.type === "request") this.#request(message);
    else if (message.type === "cancel") this.#running.get(message.id)?.abort(gone());
    else this.#streams.get(message.id)?.grant(message.count);
  }

  #hello(versions: readonly number[]): void {
    if (this.#version !== undefined) throw protocol("hello came twice");
    this.#version = commonVersion(versions);
    if (this.#version === undefined) {
      const text = `the client speaks versions ${versions.join(", ")} of the channel, this launcher ${channelVersions.join(", ")}; update the older side`;
      throw new LauncherError("LAUNCHER_VERSION", text);
    }
    this.#clock.clearTimeout(this.#helloTimer);
    this.#splitter.limit = requestBytes;
    const { software } = this.#options.info();
    this.#send({
      type: "hello",
      versions: channelVersions,
      software,
      inFlight: this.#maxInFlight,
    });
  }

  get #maxInFlight(): number {
    return this.#options.maxInFlight ?? 16;
  }

  #request(request: ClientMessage & { type: "request" }): void {
    const { id, verb: name } = request;
    if (this.#running.has(id)) throw protocol(`request ${id} runs already`);
    const refused = (code: string, message: string): void =>
      this.#send({ type: "answer", id, success: false, code, message });
    const verb = findVerb(name);
    if (this.#running.size >= this.#maxInFlight) {
      refused("LAUNCHER_BUSY", `${this.#running.size} requests are in flight; wait for one to end`);
    } else if (name === "events") this.#openStream(request);
    else if (verb) void this.#run(request, verb);
    else
      refused(
        "LAUNCHER_VERB",
        `this launcher does not know "${name}"; it is older than its caller`,
      );
  }

  async #run(
    { id, verb: name, args: sent, timeout }: ClientMessage & { type: "request" },
    verb: Verb,
  ): Promise<void> {
    const controller = this.#begin(id);
    const { control, info, migrations } = this.#options;
    let answered = false;
    const answer = (outcome: VerbAnswer | Failure): void => {
      if (answered) return;
      answered = true;
      this.#answer(id, outcome);
    };
    const expire = (limit: number): void => {
      const text = `${name} did not finish within ${limit} ms; it may still be carried out`;
      answer({ success: false, code: "DOMAIN_TIMEOUT", message: text });
      controller.abort(new LauncherError("LAUNCHER_ABORTED", text));
    };
    let timer: unknown;
    try {
      const args = readArgs(verb, sent);
      const limit = deadlineOf(verb, args, timeout);
      timer = this.#clock.setTimeout(() => expire(limit), limit);
      const options = { signal: controller.signal, timeout: limit };
      answer(await carryOut([name, verb], { control, info, migrations }, args, options));
    } catch (error) {
      const failure = failureOf(error);
      if (failure.code === "LAUNCHER_FAILED") this.#options.onDefect?.(name, error);
      answer(failure);
    } finally {
      this.#clock.clearTimeout(timer);
      this.#running.delete(id);
    }
  }

  #openStream({ id, args }: ClientMessage & { type: "request" }): void {
    let credit: number;
    try {
      ({ credit } = checkCredit(args, "args"));
    } catch (error) {
      this.#answer(id, failureOf(error));
      return;
    }
    const controller = this.#begin(id);
    const { control, maxQueuedEvents = 256 } = this.#options;
    const connection = this;
    const sink = {
      get writable() {
        return !connection.#stream.writableNeedDrain;
      },
      send: (item: unknown) => this.#send({ type: "item", id, item }),
    };
    const events = new ServerStream(sink, credit, maxQueuedEvents);
    this.#streams.set(id, events);
    void events.run(control, controller.signal).then((outcome) => {
      this.#streams.delete(id);
      this.#running.delete(id);
      this.#answer(id, outcome);
    });
  }

  #begin(id: number): AbortController {
    const controller = new AbortController();
    this.#running.set(id, controller);
    return controller;
  }

  #answer(id: number, outcome: VerbAnswer | Failure | { success: true }): void {
    if ("message" in outcome) {
      this.#send({ type: "answer", id, ...outcome });
      return;
    }
    const { result, attachment } = outcome as VerbAnswer;
    this.#send(
      { type: "answer", id, success: true, ...(result === undefined ? {} : { result }) },
      attachment,
    );
  }

  #send(message: LauncherMessage, attachment?: Uint8Array): void {
    if (this.#over) return;
    const frame = frameOf(message, attachment);
    // While a client does not read, its requests are not read either.
    if (!this.#writer.write(frame)) this.#stream.pause();
  }

  #drained(): void {
    for (const events of this.#streams.values()) events.flush();
    if (!this.#stream.writableNeedDrain) this.#stream.resume();
  }

  #fault({ code, message }: LauncherError): void {
    if (this.#over) return;
    this.#send({ type: "fault", code, message });
    this.close();
  }
}

/** An answer that cannot be encoded, or is too long, becomes a failure that says so. */
function frameOf(message: LauncherMessage, attachment?: Uint8Array): Buffer {
  let why: string;
  try {
    const frame = encodeFrame(message, attachment);
    if (frame.length <= answerBytes) return frame;
    why = `it has ${frame.length} bytes; at most ${answerBytes} are allowed`;
  } catch (error) {
    why = failureOf(error).message;
  }
  const id = "id" in message ? message.id : 0;
  const text = `the answer cannot be sent: ${why}`;
  return encodeFrame({
    type: "answer",
    id,
    success: false,
    code: "LAUNCHER_FAILED",
    message: text,
  });
}

function protocol(message: string): LauncherError {
  return new LauncherError("LAUNCHER_PROTOCOL", message);
}

function gone(): LauncherError {
  return new LauncherError("LAUNCHER_ABORTED", "the caller has given up");
}
