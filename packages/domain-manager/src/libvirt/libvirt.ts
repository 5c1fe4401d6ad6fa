import { type Clock, realClock, sleep } from "@virtkit/api/clock";
import {
  describeError,
  type Log,
  type Metrics,
  noMetrics,
  type Observers,
  silentLog,
} from "@virtkit/api/observe";
import { type Dialer, dial } from "./dial.ts";
import { type DomainRef, EventHub, type EventRegistry } from "./event-hub.ts";
import type { EventStream } from "./event-stream.ts";
import { isLibvirtError, LibvirtError, type LibvirtErrorCode } from "./libvirt-error.ts";
import { type LibvirtTarget, parseLibvirtUri } from "./libvirt-uri.ts";
import type { EventType } from "./protocol/events.ts";
import type { Flag } from "./protocol/flags.ts";
import {
  type Arguments,
  type ProcedureName,
  procedures,
  type Result,
} from "./protocol/procedures.ts";
import type { CallHooks, CallOptions } from "./rpc/pending-call.ts";
import { RpcConnection, type RpcOptions } from "./rpc/rpc-connection.ts";
import { type RpcProcedure, rpcProcedure } from "./rpc/rpc-procedure.ts";
import type { RpcStream } from "./rpc/rpc-stream.ts";

/** How {@link connectLibvirt} connects. */
export interface LibvirtOptions extends Observers {
  /**
   * Such as `qemu:///session` or `qemu+unix:///session?socket=/path`; see {@link parseLibvirtUri}.
   */
  readonly uri: string;
  readonly flags?: readonly Flag<"connectOpen">[];
  /**
   * What to do when the connection is lost. By default nothing: calls fail and event streams throw.
   * Otherwise it reconnects after these delays in milliseconds, which double from the first to the
   * last. Calls in flight fail in any case, because nobody knows whether they were carried out; new
   * ones wait.
   */
  readonly reconnect?: false | { readonly firstDelay: number; readonly lastDelay: number };
  /**
   * Sends a message after this many silent milliseconds, and gives up the connection after this
   * many unanswered messages. By default off on a unix socket, where a dead daemon is noticed at
   * once; 5 s and 5 elsewhere.
   */
  readonly keepalive?: false | { readonly interval: number; readonly misses: number };
  /**
   * Calls that the daemon works on at a time. libvirtd stops reading a connection with more than
   * `max_client_requests` (5 by default), and then does not answer keepalives either. Default 4.
   */
  readonly maxInFlight?: number;
  /** Calls that may wait for their turn; more are refused. Default 16384. */
  readonly maxQueued?: number;
  /** Milliseconds for the rest of a message after its beginning. Default 10 s. */
  readonly messageTimeout?: number;
  /** Milliseconds to connect, to authenticate and to open. Default 30 s. */
  readonly connectTimeout?: number;
  readonly dial?: Dialer;
  readonly clock?: Clock;
  /** Ends the first attempt to connect. */
  readonly signal?: AbortSignal;
}

/** How {@link Libvirt.subscribe} listens. */
export interface SubscribeOptions {
  /** Only events of this domain. */
  readonly dom?: DomainRef;
  /** Events that are buffered for a slow reader. Default 1024. */
  readonly limit?: number;
}

interface OpenOptions extends Pick<RpcOptions, "onEvent" | "onEnd"> {
  readonly signal?: AbortSignal | undefined;
}

type Rest<Name extends ProcedureName> =
  Record<never, never> extends Arguments<Name>
    ? [args?: Arguments<Name>, options?: CallOptions]
    : [args: Arguments<Name>, options?: CallOptions];

/**
 * Connects to a libvirtd and opens what the URI names.
 *
 * Rejects with a `LibvirtError`: the URI is wrong, nobody listens, the daemon wants an authentication other
 * than none or polkit, or it refuses to open the URI.
 *
 * @example
 * await using libvirt = await connectLibvirt({ uri: "qemu:///system" });
 * const { domains } = await libvirt.call("connectListAllDomains", { needResults: true });
 */
export async function connectLibvirt(options: LibvirtOptions): Promise<Libvirt> {
  const libvirt = new Libvirt(options);
  await libvirt.connect(options.signal);
  return libvirt;
}

/** A connection to one libvirtd; created by {@link connectLibvirt}. */
export class Libvirt implements AsyncDisposable {
  readonly #target: LibvirtTarget;
  readonly #options: LibvirtOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #metrics: Metrics;
  readonly #hub: EventHub;
  #connection: RpcConnection | undefined;
  /** Settles when the connection is up again; absent while it is up. */
  #reconnecting: Promise<RpcConnection> | undefined;
  #closed: LibvirtError | undefined;
  readonly #closing = new AbortController();

  /** @internal */
  constructor(options: LibvirtOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.#log = options.log ?? silentLog;
    this.#metrics = options.metrics ?? noMetrics;
    this.#hub = new EventHub(options);
    this.#target = parseLibvirtUri(options.uri);
  }

  /** @internal */
  async connect(signal?: AbortSignal): Promise<void> {
    this.#connection = await this.#open({
      signal,
      onEvent: (header, message) => this.#hub.dispatch(header, message),
      onEnd: (error) => this.#lost(error),
    });
  }

  /**
   * Calls a procedure; see the tables in `protocol/` for arguments and results.
   *
   * Rejects only with `LibvirtError`. Without a timeout a call fails after a minute, except those
   * that answer only when long work is done.
   */
  async call<Name extends ProcedureName>(
    name: Name,
    ...[args, options = {}]: Rest<Name>
  ): Promise<Result<Name>> {
    const procedure = prepared(name);
    if (this.#connection) {
      return (await this.#connection.call(procedure, args ?? {}, options)) as Result<Name>;
    }
    const { timeout = procedure.timeout } = options;
    const start = this.#clock.now();
    const connection = await this.#whenConnected({ ...options, timeout });
    const left = Math.max(timeout - (this.#clock.now() - start), 0);
    const rest = { ...options, timeout: left };
    return (await connection.call(procedure, args ?? {}, rest)) as Result<Name>;
  }

  /**
   * Listens to events; resolves when the daemon has accepted the registration, so that none is
   * missed.
   */
  async subscribe<Type extends EventType>(
    types: readonly Type[],
    { dom, limit = 1024 }: SubscribeOptions = {},
  ): Promise<EventStream<Type>> {
    const registries = {
      current: () => this.#connection && registryOf(this.#connection),
      next: async () => registryOf(this.#connection ?? (await this.#whenConnected({}))),
    };
    return await this.#hub.subscribe(registries, types, dom, limit);
  }

  /** Opens a console of a running domain on a separate connection, which ends with the stream. */
  async openConsole(
    args: Arguments<"domainOpenConsole">,
    options: CallOptions = {},
  ): Promise<RpcStream> {
    return (await this.#stream("domainOpenConsole", args, options)).stream;
  }

  /** Takes a picture of a domain's screen on a separate connection. */
  async screenshot(
    args: Arguments<"domainScreenshot">,
    options: CallOptions = {},
  ): Promise<{ mime: string | undefined; stream: RpcStream }> {
    const { result, stream } = await this.#stream("domainScreenshot", args, options);
    return { mime: (result as Result<"domainScreenshot">).mime, stream };
  }

  /** Closes the connection: waiting calls fail, event streams end. Does nothing the second time. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = new LibvirtError("LIBVIRT_CLOSED", "this client closed the connection");
    this.#closing.abort(this.#closed);
    this.#hub.end();
    const connection = this.#connection;
    this.#connection = undefined;
    if (!connection) return;
    if (connection.idle) {
      // Lets the daemon clean up what belongs to the connection; it does not matter if it does not
      // answer.
      await connection.call(prepared("connectClose"), {}, { timeout: 1_000 }).catch(() => {});
    }
    connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #open({ signal, ...handlers }: OpenOptions): Promise<RpcConnection> {
    const { connectTimeout = 30_000 } = this.#options;
    const late = new AbortController();
    const timer = this.#clock.setTimeout(() => late.abort(), connectTimeout);
    const signals = [late.signal, this.#closing.signal];
    try {
      return await this.#dial(AbortSignal.any(signal ? [...signals, signal] : signals), handlers);
    } catch (error) {
      if (signal?.aborted) throw notOpen("LIBVIRT_ABORTED", "the caller gave up", signal.reason);
      if (late.signal.aborted) throw notOpen("LIBVIRT_TIMEOUT", `${connectTimeout} ms`, error);
      throw isLibvirtError(error) ? error : notOpen("LIBVIRT_CONNECT", String(error), error);
    } finally {
      this.#clock.clearTimeout(timer);
    }
  }

  async #dial(
    signal: AbortSignal,
    handlers: Pick<RpcOptions, "onEvent" | "onEnd">,
  ): Promise<RpcConnection> {
    const { endpoint, name } = this.#target;
    const { maxInFlight = 4, maxQueued = 16_384, messageTimeout = 10_000, flags } = this.#options;
    // The daemon does not speak first, so nothing arrives before there is a connection.
    const receive = (chunk: Buffer): void => connection?.receive(chunk);
    let connection: RpcConnection | undefined;
    const socket = await (this.#options.dial ?? dial)(endpoint, { signal, receive });
    connection = new RpcConnection(socket, {
      ...handlers,
      clock: this.#clock,
      maxInFlight,
      maxQueued,
      messageTimeout,
      keepalive: keepaliveOf(this.#options.keepalive, endpoint.transport),
    });
    try {
      await authenticate(connection, signal);
      await connection.call(prepared("connectOpen"), { name, flags }, { signal });
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  #lost(error: LibvirtError | undefined): void {
    // Until the first connection is up, its caller gets the error.
    if (!this.#connection || !error) return;
    this.#connection = undefined;
    const { reconnect = false } = this.#options;
    this.#log.warn(
      { error: describeError(error), reconnects: reconnect !== false },
      "libvirt: the connection is lost",
    );
    this.#metrics.count("libvirt_connections_lost");
    if (!reconnect) {
      this.#closed = error;
      this.#hub.end(error);
      return;
    }
    this.#reconnecting = this.#reconnect(reconnect.firstDelay, reconnect.lastDelay);
    // Waiting callers get the failure; there may be none.
    this.#reconnecting.catch(() => {});
  }

  async #reconnect(firstDelay: number, lastDelay: number): Promise<RpcConnection> {
    for (let delay = firstDelay; ; delay = Math.min(delay * 2, lastDelay)) {
      await sleep(this.#clock, delay, this.#closing.signal);
      if (this.#closed) throw this.#closed;
      const connection = await this.#tryAgain();
      if (connection) return connection;
    }
  }

  /**
   * Registers events again before anyone can call: a caller that reads "resync" and then asks
   * misses nothing.
   */
  async #tryAgain(): Promise<RpcConnection | undefined> {
    let ended = false;
    try {
      const connection = await this.#open({
        onEvent: (header, message) => this.#hub.dispatch(header, message),
        onEnd: (error) => {
          ended = true;
          // Before it is the current connection, its opener learns of the failure from a failing call.
          this.#lost(error);
        },
      });
      await this.#hub.resync(registryOf(connection));
      if (ended || this.#closed) {
        connection.close();
        return undefined;
      }
      this.#connection = connection;
      this.#reconnecting = undefined;
      this.#log.info("libvirt: the connection is up again");
      return connection;
    } catch (error) {
      this.#log.debug(
        { error: describeError(error) },
        "libvirt: the next attempt to connect follows",
      );
      this.#metrics.count("libvirt_reconnect_failures");
      return undefined;
    }
  }

  /** Waits for a reconnect, but no longer than the call itself may take. */
  async #whenConnected({ signal, timeout = 60_000 }: CallOptions): Promise<RpcConnection> {
    const reconnecting = this.#reconnecting;
    if (this.#closed || !reconnecting) {
      throw this.#closed ?? new LibvirtError("LIBVIRT_CLOSED", "there is no connection");
    }
    return await new Promise((resolve, reject) => {
      const giveUp = (code: "LIBVIRT_TIMEOUT" | "LIBVIRT_ABORTED", text: string): void => {
        cleanUp();
        reject(new LibvirtError(code, `no connection: ${text}`, { cause: signal?.reason }));
      };
      const onAbort = (): void => giveUp("LIBVIRT_ABORTED", "the caller gave up waiting");
      const timer = this.#clock.setTimeout(
        () => giveUp("LIBVIRT_TIMEOUT", `none came up in ${timeout} ms`),
        Math.min(timeout, 0x7fffffff),
      );
      const cleanUp = (): void => {
        this.#clock.clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      };
      signal?.addEventListener("abort", onAbort);
      if (signal?.aborted) onAbort();
      reconnecting.then(resolve, reject).finally(cleanUp);
    });
  }

  async #stream(
    name: "domainOpenConsole" | "domainScreenshot",
    args: unknown,
    options: CallOptions,
  ): Promise<{ result: unknown; stream: RpcStream }> {
    if (this.#closed) throw this.#closed;
    const connection = await this.#open({
      signal: options.signal,
      onEvent: () => {},
      onEnd: () => {},
    });
    try {
      const opened = await connection.stream(prepared(name), args, options);
      opened.stream.onEnd = () => connection.close();
      return opened;
    } catch (error) {
      connection.close();
      throw error;
    }
  }
}

const preparedProcedures = new Map<string, RpcProcedure>();

function prepared(name: ProcedureName): RpcProcedure {
  let procedure = preparedProcedures.get(name);
  if (!procedure) {
    if (!Object.hasOwn(procedures, name)) {
      throw new LibvirtError("LIBVIRT_ARGUMENT", `there is no procedure "${name}"`);
    }
    procedure = rpcProcedure(name, procedures[name]);
    preparedProcedures.set(name, procedure);
  }
  return procedure;
}

function notOpen(code: LibvirtErrorCode, why: string, cause: unknown): LibvirtError {
  return new LibvirtError(code, `the connection was not opened: ${why}`, { cause });
}

async function authenticate(connection: RpcConnection, signal: AbortSignal): Promise<void> {
  const answer = await connection.call(prepared("authList"), {}, { signal });
  const { types } = answer as Result<"authList">;
  if (types.length === 0 || types.includes("none")) return;
  if (types.includes("polkit")) {
    await connection.call(prepared("authPolkit"), {}, { signal });
    return;
  }
  throw new LibvirtError(
    "LIBVIRT_AUTH",
    `the daemon wants ${types.join(" or ")}; this client knows none and polkit: use a unix socket, or TLS with auth_tls = "none"`,
  );
}

function keepaliveOf(
  given: LibvirtOptions["keepalive"],
  transport: string,
): { interval: number; misses: number } | undefined {
  if (given === false || (given === undefined && transport === "unix")) return undefined;
  return given ?? { interval: 5_000, misses: 5 };
}

function registryOf(connection: RpcConnection): EventRegistry {
  return {
    register: async (event, dom, onReply) => {
      const hooks: CallHooks = {
        onReply: (result) => onReply((result as Result<"eventRegister">).callback),
      };
      await connection.call(prepared("eventRegister"), { event, dom }, {}, hooks);
    },
    deregister: async (callback) => {
      await connection.call(prepared("eventDeregister"), { callback }, {});
    },
  };
}
