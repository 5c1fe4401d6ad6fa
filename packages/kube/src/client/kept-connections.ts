import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { type Clock, realClock } from "@virtkit/api/clock";
import { type Answer, AnswerParser } from "./answer-parser.ts";
import type { TlsSettings } from "./connection.ts";
import type { RequestScope } from "./request-scope.ts";

/** Less than the 90 seconds after which an API server closes an idle connection under a request. */
const idleMilliseconds = 30_000;
const maxConnections = 64;
/** After this long without traffic, the kernel checks whether the peer is still there. */
export const probeMilliseconds = 30_000;

/** What goes out, and how its answer is read. */
export interface Exchange {
  readonly method: string;
  /** The head and the body. */
  readonly text: string;
  readonly maxBytes: number;
}

/** Where connections go to. */
export interface Peer {
  readonly host: string;
  readonly port: number;
  /** Absent for a connection that is not encrypted. */
  readonly tls?: TlsSettings | undefined;
}

/** One connection; it carries one request at a time. */
interface Kept {
  readonly socket: Socket;
  idleSince: number;
  current:
    | {
        readonly parser: AnswerParser;
        readonly resolve: (answer: Answer) => void;
        readonly reject: (error: unknown) => void;
      }
    | undefined;
}

/**
 * Connections to one server that are kept between requests; the last one used is used first. Node's own
 * client does the same for three times the CPU: most of what it does is for streams, which a small response
 * does not need.
 */
export class KeptConnections {
  readonly #peer: Peer;
  readonly #clock: Clock;
  readonly #idle: Kept[] = [];
  readonly #waiting: ((kept: Kept) => void)[] = [];
  #open = 0;
  #isClosed = false;
  #session: Buffer | undefined;
  #timer: unknown;

  /** @param clock counts idle time; real by default, even for a client with another clock, because servers count so. */
  constructor(peer: Peer, clock: Clock = realClock) {
    this.#peer = peer;
    this.#clock = clock;
  }

  /** Sends a request and reads the complete response. Rejects with the error of the connection. */
  async exchange({ method, text, maxBytes }: Exchange, scope: RequestScope): Promise<Answer> {
    const kept = this.#take() ?? (await this.#turn(scope));
    return await new Promise<Answer>((resolve, reject) => {
      const current = { parser: new AnswerParser(method, maxBytes), resolve, reject };
      kept.current = current;
      scope.onStop(() => {
        // Not if it has its response: the connection may already serve the next request.
        if (kept.current === current) kept.socket.destroy(new Error("aborted"));
      });
      kept.socket.write(text);
    });
  }

  /** Closes connections that are idle, and others after their request. */
  close(): void {
    this.#isClosed = true;
    for (const { socket } of this.#idle.splice(0)) socket.destroy();
    this.#clock.clearTimeout(this.#timer);
  }

  #take(): Kept | undefined {
    for (let kept = this.#idle.pop(); kept; kept = this.#idle.pop()) {
      // The timer is late in a process that was stopped for a while.
      if (!kept.socket.destroyed && this.#clock.now() - kept.idleSince < idleMilliseconds) {
        kept.socket.ref();
        return kept;
      }
      kept.socket.destroy();
    }
    return this.#open < maxConnections ? this.#connect() : undefined;
  }

  /** All connections are busy: the next one that is free. */
  async #turn(scope: RequestScope): Promise<Kept> {
    return await new Promise((resolve, reject) => {
      const take = (kept: Kept): void => resolve(kept);
      this.#waiting.push(take);
      scope.onStop(() => {
        const at = this.#waiting.indexOf(take);
        if (at >= 0) this.#waiting.splice(at, 1);
        reject(new Error("aborted"));
      });
    });
  }

  #connect(): Kept {
    const socket = this.#dial();
    const kept: Kept = { socket, idleSince: 0, current: undefined };
    this.#open++;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, probeMilliseconds);
    socket.on("data", (chunk) => this.#received(kept, chunk));
    socket.on("error", (error) => fail(kept, error));
    socket.once("end", () => this.#ended(kept));
    socket.once("close", () => {
      this.#open--;
      fail(kept, new Error("the connection was closed before the response was complete"));
      const at = this.#idle.indexOf(kept);
      if (at >= 0) this.#idle.splice(at, 1);
      // The request that waited for this connection gets a new one.
      const next = this.#waiting.shift();
      if (next) next(this.#connect());
    });
    return kept;
  }

  #dial(): Socket {
    const { host, port, tls } = this.#peer;
    if (!tls) return connectTcp({ host, port });
    const socket = connectTls({
      host,
      port,
      ...tls,
      // An address is not a name that a server could be asked for.
      servername: tls.servername ?? (isIP(host) ? "" : host),
      ALPNProtocols: ["http/1.1"],
      ...(this.#session && { session: this.#session }),
    });
    socket.on("session", (session: Buffer) => {
      this.#session = session;
    });
    return socket;
  }

  #received(kept: Kept, chunk: Buffer): void {
    const { current, socket } = kept;
    if (!current) {
      // Nobody has asked for anything: what comes would be taken for the next answer.
      socket.destroy();
      return;
    }
    try {
      const answer = current.parser.push(chunk);
      if (answer) this.#answered(kept, answer);
    } catch (error) {
      fail(kept, error);
      socket.destroy();
    }
  }

  #ended(kept: Kept): void {
    const answer = kept.current?.parser.end();
    if (answer) this.#answered(kept, answer);
    else kept.socket.destroy();
  }

  #answered(kept: Kept, answer: Answer): void {
    const { current, socket } = kept;
    if (!current) return;
    kept.current = undefined;
    if (!current.parser.isKept || this.#isClosed) socket.destroy();
    else this.#release(kept);
    current.resolve(answer);
  }

  #release(kept: Kept): void {
    const next = this.#waiting.shift();
    if (next) {
      next(kept);
      return;
    }
    kept.idleSince = this.#clock.now();
    // A process may end while it has idle connections.
    kept.socket.unref();
    this.#idle.push(kept);
    this.#timer ??= this.#sweepIn(idleMilliseconds);
  }

  #sweepIn(milliseconds: number): unknown {
    const timer = this.#clock.setTimeout(() => this.#sweep(), milliseconds);
    this.#clock.unref?.(timer);
    return timer;
  }

  /** One timer for all connections: those that are idle for long are at the front. */
  #sweep(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    for (const kept of [...this.#idle]) {
      const left = kept.idleSince + idleMilliseconds - now;
      if (left <= 0) kept.socket.destroy();
      else this.#timer ??= this.#sweepIn(left);
    }
  }
}

/** Fails the request that waits for a response on this connection. */
function fail(kept: Kept, error: unknown): void {
  const { current } = kept;
  kept.current = undefined;
  current?.reject(error);
}
