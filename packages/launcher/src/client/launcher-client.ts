import type { Clock } from "@virtkit/api/clock";
import {
  DomainManagerError,
  type DomainManagerErrorCode,
  type GuestControl,
  type GuestEvent,
} from "@virtkit/domain-manager";
import type { CallOptions } from "@virtkit/domain-manager/libvirt";
import { deadlineOf, type Verb } from "../channel/verb.ts";
import { type MethodsOf, verbs } from "../channel/verbs.ts";
import { isLauncherError, LauncherError, type LauncherErrorCode } from "../launcher-error.ts";
import type { Answer, ClientConnection } from "./client-connection.ts";
import { ClientStream, streamWindow } from "./client-stream.ts";

/**
 * How much longer a caller waits than the launcher's own deadline, so that it gets the launcher's
 * reason.
 */
const patience = 1_000;

/** Only types: the class below makes these methods from the table. */
const VerbMethods = Object as unknown as new () => MethodsOf<typeof verbs>;

/**
 * A launcher's guest, controlled over a connection. Created by `connectLauncher`.
 *
 * A failure of the launcher rejects with the error of its domain manager: a `DomainManagerError`
 * with the same code. A problem with the connection rejects with a `LauncherError`. A lost
 * connection stays lost: every call then rejects with `LAUNCHER_CLOSED`, and event streams throw
 * it. Connect again and call `events`, which begins with the whole status.
 */
export class LauncherClient extends VerbMethods implements GuestControl, AsyncDisposable {
  static {
    for (const [name, verb] of Object.entries(verbs as Readonly<Record<string, Verb>>)) {
      Object.defineProperty(LauncherClient.prototype, name, {
        configurable: true,
        writable: true,
        async value(this: LauncherClient, ...given: unknown[]): Promise<unknown> {
          const [args, options] = verb.args ? given : [undefined, ...given];
          const sent = verb.encodeArgs ? verb.encodeArgs(args) : args;
          const { signal, timeout } = (options ?? {}) as CallOptions;
          const answer = await this.#call(name, sent, deadlineOf(verb, args, timeout), signal);
          return verb.result && readResult(name, verb.result, answer);
        },
      });
    }
  }

  readonly #connection: ClientConnection;
  readonly #clock: Clock;
  readonly #closed: Promise<void>;

  /** @internal */
  constructor(connection: ClientConnection, closed: Promise<void>, clock: Clock) {
    super();
    this.#connection = connection;
    this.#closed = closed;
    this.#clock = clock;
  }

  /** Resolves when the connection has ended for any reason. */
  get closed(): Promise<void> {
    return this.#closed;
  }

  /**
   * Future events; begins with the status. At most 64 items are buffered for a reader that does not
   * read; then the launcher buffers some, and finally sends `resync`. Iterate it once.
   */
  events({ signal }: { readonly signal?: AbortSignal } = {}): AsyncIterable<GuestEvent> {
    let id = 0;
    const onAbort = (): void => void stream.return();
    const over = (error?: Error): void => {
      signal?.removeEventListener("abort", onAbort);
      stream.end(error);
    };
    const stream = new ClientStream({
      grant: (count) => this.#connection.grant(id, count),
      cancel: () => {
        signal?.removeEventListener("abort", onAbort);
        this.#connection.forget(id);
      },
    });
    try {
      id = this.#connection.request("events", { credit: streamWindow }, undefined, {
        onAnswer: ({ message }) => over(message.success ? undefined : failed("events", message)),
        onItem: (item) => stream.take(item),
        onLost: over,
      });
      signal?.addEventListener("abort", onAbort);
      if (signal?.aborted) onAbort();
    } catch (error) {
      over(lost(error));
    }
    return stream;
  }

  /**
   * Ends the connection: waiting calls are rejected, event streams throw. Does nothing the second
   * time.
   */
  async close(): Promise<void> {
    this.#connection.end(new LauncherError("LAUNCHER_CLOSED", "this client closed the connection"));
    await this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #call(verb: string, args: unknown, limit: number, signal?: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(abandoned(verb, signal));
        return;
      }
      const settle = (): void => {
        this.#clock.clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      };
      const giveUp = (error: Error): void => {
        settle();
        this.#connection.forget(id);
        reject(error);
      };
      const onAbort = (): void => giveUp(abandoned(verb, signal));
      const late = `the launcher did not answer ${verb} in ${limit} ms`;
      const timer = this.#clock.setTimeout(
        () => giveUp(new DomainManagerError("DOMAIN_TIMEOUT", late, { path: verb })),
        limit + patience,
      );
      let id = 0;
      try {
        id = this.#connection.request(verb, args, limit, {
          onAnswer: (answer) => {
            settle();
            if (answer.message.success) resolve(answer);
            else reject(failed(verb, answer.message));
          },
          onLost: (error) => {
            settle();
            reject(error);
          },
        });
        signal?.addEventListener("abort", onAbort);
      } catch (error) {
        settle();
        reject(lost(error));
      }
    });
  }
}

function readResult(
  verb: string,
  read: NonNullable<Verb["result"]>,
  { message: { result }, attachment }: Answer,
): unknown {
  try {
    return read(result, verb, attachment);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const text = `the launcher's answer to ${verb} is malformed: ${why}`;
    throw new LauncherError("LAUNCHER_PROTOCOL", text, { path: verb, cause });
  }
}

/**
 * Prefix of every code of the domain manager; a newer launcher may have one that is unknown here.
 */
function isDomainCode(code: string): code is DomainManagerErrorCode {
  return code.startsWith("DOMAIN_");
}

function failed(verb: string, message: Answer["message"]): Error {
  const { code = "LAUNCHER_FAILED", message: why = "it does not say why", path } = message;
  // The domain manager names the verb itself.
  const said = why.startsWith(`${verb}: `) ? why : `${verb}: ${why}`;
  if (isDomainCode(code)) return new DomainManagerError(code, said, { path });
  const known = code.startsWith("LAUNCHER_") ? (code as LauncherErrorCode) : "LAUNCHER_FAILED";
  return new LauncherError(known, said, { path: path ?? verb, cause: code });
}

function abandoned(verb: string, signal: AbortSignal | undefined): LauncherError {
  const text = `${verb}: the caller gave up; it may still be carried out`;
  return new LauncherError("LAUNCHER_ABORTED", text, { path: verb, cause: signal?.reason });
}

function lost(error: unknown): LauncherError {
  if (isLauncherError(error)) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new LauncherError("LAUNCHER_ARGUMENT", `the request cannot be sent: ${why}`, {
    cause: error,
  });
}
