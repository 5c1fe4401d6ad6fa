import {
  DomainManagerError,
  type DomainManagerErrorCode,
  type DomainStats,
  type DomainStatus,
  type ExecResult,
  type GuestControl,
  type GuestEvent,
  type GuestFileSystem,
  type GuestUser,
  type MayRun,
  type Screenshot,
  type SyncRequest,
} from "@virtkit/domain-manager";
import type { CallOptions } from "@virtkit/domain-manager/libvirt";
import { type Check, fields, text } from "../channel/check.ts";
import {
  checkExecResult,
  checkFileSystems,
  checkStats,
  checkStatus,
  checkUsers,
} from "../channel/guest-checks.ts";
import { checkInfo, type LauncherInfo } from "../channel/launcher-info.ts";
import { deadlineOf, type Verb } from "../channel/verb.ts";
import { type LauncherVerbs, type VerbName, verbs } from "../channel/verbs.ts";
import type { Clock } from "../clock.ts";
import { isLauncherError, LauncherError, type LauncherErrorCode } from "../launcher-error.ts";
import type { Answer, ClientConnection } from "./client-connection.ts";
import { ClientStream, streamWindow } from "./client-stream.ts";

/** What a caller waits beyond the deadline that the launcher keeps itself, so that its reason is heard. */
const patience = 1_000;

/** Gives the class below the types of the methods that it makes from the table of verbs. */
const VerbMethods = Object as unknown as new () => Pick<LauncherVerbs, "softReboot">;

/**
 * A launcher's guest, controlled over a connection. Made by `connectLauncher`.
 *
 * What the launcher could not do rejects with the error that its domain manager had: a `DomainManagerError`
 * with the same code. What is wrong with the connection rejects with a `LauncherError`. A connection that
 * is lost stays lost: every call then rejects with `LAUNCHER_CLOSED` and event streams throw it; connect
 * again and call `events`, which begins with the whole status.
 */
export class LauncherClient extends VerbMethods implements GuestControl, AsyncDisposable {
  static {
    for (const name of ["softReboot"] as const) {
      const value = async function (this: LauncherClient, ...given: unknown[]): Promise<unknown> {
        const verb = verbs[name] as Verb;
        const [args, options] = verb.args ? given : [undefined, ...given];
        const answer = await this.#call(name, args, options as CallOptions | undefined);
        return verb.result && readResult(name, verb.result, answer);
      };
      Object.defineProperty(LauncherClient.prototype, name, { value });
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

  /** Resolves when the connection has ended, however that was. */
  get closed(): Promise<void> {
    return this.#closed;
  }

  /** Resolves when the launcher answers. */
  async ping(options?: CallOptions): Promise<void> {
    await this.#call("ping", undefined, options);
  }

  /** What the launcher says of itself. */
  async info(options?: CallOptions): Promise<LauncherInfo> {
    return await this.#ask("info", checkInfo, options);
  }

  async syncVmi(request: SyncRequest, options?: CallOptions): Promise<DomainStatus> {
    return readResult("syncVmi", checkStatus, await this.#call("syncVmi", request, options));
  }

  async pause(options?: CallOptions): Promise<void> {
    await this.#call("pause", undefined, options);
  }

  async unpause(mayRun: MayRun, options?: CallOptions): Promise<void> {
    await this.#call("unpause", mayRun, options);
  }

  async shutdown(options?: CallOptions): Promise<void> {
    await this.#call("shutdown", undefined, options);
  }

  async kill(options?: CallOptions): Promise<void> {
    await this.#call("kill", undefined, options);
  }

  async delete(options?: CallOptions): Promise<void> {
    await this.#call("delete", undefined, options);
  }

  async reset(options?: CallOptions): Promise<void> {
    await this.#call("reset", undefined, options);
  }

  async freeze(
    request: { readonly unfreezeAfterSeconds: number },
    options?: CallOptions,
  ): Promise<void> {
    await this.#call("freeze", request, options);
  }

  async unfreeze(options?: CallOptions): Promise<void> {
    await this.#call("unfreeze", undefined, options);
  }

  async exec(
    request: {
      readonly command: string;
      readonly args?: readonly string[];
      readonly timeoutSeconds?: number;
    },
    options?: CallOptions,
  ): Promise<ExecResult> {
    const answer = await this.#call("exec", request, options);
    return readResult("exec", checkExecResult, answer);
  }

  async guestPing(
    request: { readonly timeoutSeconds: number },
    options?: CallOptions,
  ): Promise<void> {
    await this.#call("guestPing", request, options);
  }

  async users(options?: CallOptions): Promise<readonly GuestUser[]> {
    return await this.#ask("users", checkUsers, options);
  }

  async fileSystems(options?: CallOptions): Promise<readonly GuestFileSystem[]> {
    return await this.#ask("fileSystems", checkFileSystems, options);
  }

  async stats(options?: CallOptions): Promise<DomainStats> {
    return await this.#ask("stats", checkStats, options);
  }

  async screenshot(options?: CallOptions): Promise<Screenshot> {
    const answer = await this.#call("screenshot", undefined, options);
    const { mime } = readResult("screenshot", fields({ mime: text(128) }), answer);
    return { mime, data: answer.attachment };
  }

  async memoryDump(request: { readonly path: string }, options?: CallOptions): Promise<void> {
    await this.#call("memoryDump", request, options);
  }

  async status(options?: CallOptions): Promise<DomainStatus> {
    return await this.#ask("status", checkStatus, options);
  }

  /**
   * What happens from now on; begins with the status. At most 64 items are held for a reader that does not
   * read; then the launcher holds some, and at last says `resync`. Iterate it once.
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

  /** Ends the connection: calls that wait are rejected, event streams throw. Does nothing the second time. */
  async close(): Promise<void> {
    this.#connection.end(new LauncherError("LAUNCHER_CLOSED", "this client closed the connection"));
    await this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #ask<T>(verb: VerbName, check: Check<T>, options?: CallOptions): Promise<T> {
    return readResult(verb, check, await this.#call(verb, undefined, options));
  }

  async #call(
    name: VerbName,
    args: unknown,
    { signal, timeout }: CallOptions = {},
  ): Promise<Answer> {
    const verb = verbs[name] as Verb;
    const sent = verb.encodeArgs ? verb.encodeArgs(args) : args;
    const limit = deadlineOf(verb, args, timeout);
    return await new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(abandoned(name, signal));
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
      const onAbort = (): void => giveUp(abandoned(name, signal));
      const late = `the launcher did not answer ${name} in ${limit} ms`;
      const timer = this.#clock.setTimeout(
        () => giveUp(new DomainManagerError("DOMAIN_TIMEOUT", late, { path: name })),
        limit + patience,
      );
      let id = 0;
      try {
        id = this.#connection.request(name, sent, limit, {
          onAnswer: (answer) => {
            settle();
            if (answer.message.success) resolve(answer);
            else reject(failed(name, answer.message));
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

function readResult<T>(
  verb: VerbName,
  check: (sent: unknown, path: string, attachment: Uint8Array) => T,
  { message: { result }, attachment }: Answer,
): T {
  try {
    return check(result, verb, attachment);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const text = `the launcher's answer to ${verb} is malformed: ${why}`;
    throw new LauncherError("LAUNCHER_PROTOCOL", text, { path: verb, cause });
  }
}

/** Every code of the domain manager begins so; a newer launcher may have one that is not known here. */
function isDomainCode(code: string): code is DomainManagerErrorCode {
  return code.startsWith("DOMAIN_");
}

function failed(verb: string, message: Answer["message"]): Error {
  const { code = "LAUNCHER_FAILED", message: why = "it does not say why", path } = message;
  const said = `${verb}: ${why}`;
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
