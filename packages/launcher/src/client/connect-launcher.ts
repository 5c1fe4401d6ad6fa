import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { type Clock, realClock } from "@virtkit/api/clock";
import { isLauncherError, LauncherError } from "../launcher-error.ts";
import { ClientConnection } from "./client-connection.ts";
import { LauncherClient } from "./launcher-client.ts";

/** Opens a byte stream to a launcher. */
export type LauncherDialer = (options: { readonly signal: AbortSignal }) => Promise<Duplex>;

/** How {@link connectLauncher} connects. */
export interface ConnectLauncherOptions {
  /** Path of the launcher's socket, for a caller that trusts every directory in it. */
  readonly path?: string;
  /**
   * Instead of a path. A node agent opens the socket below `/proc/<pid>/root` without following
   * links, as `dialSafely` does: it does not control the directories there.
   */
  readonly dial?: LauncherDialer;
  /** Milliseconds to connect and to agree on a version. Default 5,000. */
  readonly timeout?: number;
  /** The name of this side. Default `virtkit`. */
  readonly software?: string;
  readonly clock?: Clock;
  /** Ends the attempt to connect. */
  readonly signal?: AbortSignal;
}

/**
 * Connects to a launcher that is ready. Rejects with a `LauncherError`: nobody listens
 * (`LAUNCHER_CONNECT`), no answer in time, or no version in common.
 *
 * @example
 * await using guest = await connectLauncher({ path: "/var/run/kubevirt/sockets/launcher-sock" });
 * for await (const event of guest.events()) if (event.kind === "status") console.log(event.status.state);
 */
export async function connectLauncher({
  path,
  dial = dialPath(path),
  timeout = 5_000,
  software = "virtkit",
  clock = realClock,
  signal,
}: ConnectLauncherOptions): Promise<LauncherClient> {
  const late = new AbortController();
  const timer = clock.setTimeout(
    () => late.abort(unreachable(`no answer within ${timeout} ms`)),
    timeout,
  );
  const both = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
  try {
    return await open(await dialled(dial, both), software, clock, both);
  } finally {
    clock.clearTimeout(timer);
  }
}

async function dialled(dial: LauncherDialer, signal: AbortSignal): Promise<Duplex> {
  try {
    return await dial({ signal });
  } catch (error) {
    if (signal.aborted) throw givenUp(signal);
    throw isLauncherError(error) ? error : unreachable(messageOf(error), error);
  }
}

async function open(
  stream: Duplex,
  software: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<LauncherClient> {
  let onClosed = (): void => {};
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });
  const connection = new ClientConnection(stream, software, onClosed);
  const onAbort = (): void => connection.end(givenUp(signal));
  signal.addEventListener("abort", onAbort);
  try {
    if (signal.aborted) onAbort();
    await connection.ready;
    return new LauncherClient(connection, closed, clock);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function dialPath(path: string | undefined): LauncherDialer {
  return async ({ signal }) => {
    if (path === undefined) {
      throw new LauncherError("LAUNCHER_ARGUMENT", "connectLauncher needs a path or a dialer");
    }
    const socket = connect({ path });
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", (error) => reject(unreachable(`${path}: ${error.message}`, error)));
      signal.addEventListener("abort", () => reject(givenUp(signal)), { once: true });
    }).catch((error: unknown) => {
      socket.destroy();
      throw error;
    });
    return socket;
  };
}

function givenUp(signal: AbortSignal): LauncherError {
  if (isLauncherError(signal.reason)) return signal.reason;
  const text = "the caller gave up the connection to the launcher";
  return new LauncherError("LAUNCHER_ABORTED", text, { cause: signal.reason });
}

function unreachable(why: string, cause?: unknown): LauncherError {
  return new LauncherError("LAUNCHER_CONNECT", `no launcher answers: ${why}`, { cause });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
