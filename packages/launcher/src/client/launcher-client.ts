import type { Clock } from "@virtkit/api/clock";
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
import { maxTimeout } from "../channel/messages.ts";
import { type VerbName, verbs } from "../channel/verbs.ts";
import { isLauncherError, LauncherError, type LauncherErrorCode } from "../launcher-error.ts";
import type { Answer, ClientConnection } from "./client-connection.ts";
import { ClientStream, streamWindow } from "./client-stream.ts";

/** What a caller waits beyond the deadline that the launcher keeps itself, so that its reason is heard. */
const patience = 1_000;
const agentPatience = 5_000;

/**
 * A launcher's guest, controlled over a connection. Made by `connectLauncher`.
 *
 * What the launcher could not do rejects with the error that its domain manager had: a `DomainManagerError`
 * with the same code. What is wrong with the connection rejects with a `LauncherError`. A connection that
 * is lost stays lost: every call then rejects with `LAUNCHER_CLOSED` and event streams throw it; connect
 * again and call `events`, which begins with the whole status.
 */
export class LauncherClient implements GuestControl, AsyncDisposable {
  readonly #connection: ClientConnection;
  readonly #clock: Clock;
  readonly #closed: Promise<void>;

  /** @internal */
  constructor(connection: ClientConnection, closed: Promise<void>, clock: Clock) {
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

  async syncVmi({ mayRun, ...rest }: SyncRequest, options?: CallOptions): Promise<DomainStatus> {
    const args = { ...rest, mayRun: mayRun.grant };
    return this.#read("syncVmi", checkStatus, await this.#call("syncVmi", args, options));
  }

  async pause(options?: CallOptions): Promise<void> {
    await this.#call("pause", undefined, options);
  }

  async unpause(mayRun: MayRun, options?: CallOptions): Promise<void> {
    await this.#call("unpause", { mayRun: mayRun.grant }, options);
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

  async softReboot(options?: CallOptions): Promise<void> {
    await this.#call("softReboot", undefined, options);
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
    const seconds = request.timeoutSeconds;
    const timeout = seconds === undefined ? undefined : seconds * 1_000 + agentPatience;
    const answer = await this.#call("exec", request, { timeout, ...options });
    return this.#read("exec", checkExecResult, answer);
  }

  async guestPing(
    request: { readonly timeoutSeconds: number },
    options?: CallOptions,
  ): Promise<void> {
    const timeout = request.timeoutSeconds * 1_000 + agentPatience;
    await this.#call("guestPing", request, { timeout, ...options });
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
    const { mime } = this.#read("screenshot", fields({ mime: text(128) }), answer);
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
    return this.#read(verb, check, await this.#call(verb, undefined, options));
  }

  #read<T>(verb: VerbName, check: Check<T>, { message: { result } }: Answer): T {
    try {
      return check(result, verb);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      const text = `the launcher's answer to ${verb} is malformed: ${why}`;
      throw new LauncherError("LAUNCHER_PROTOCOL", text, { path: verb, cause });
    }
  }

  #call(verb: VerbName, args: unknown, { signal, timeout }: CallOptions = {}): Promise<Answer> {
    const limit = Math.min(Math.max(Math.ceil(timeout ?? verbs[verb].timeout), 0), maxTimeout);
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
