import { fstatSync } from "node:fs";
import { pollDescriptor } from "../ffi/foreign.ts";
import { HostError } from "../host-error.ts";
import type { OwnedFd } from "../owned-fd.ts";

/** Options of {@link whenReadable}. */
export interface ReadableOptions {
  readonly signal?: AbortSignal;
}

/** Descriptors that are being waited for: the event loop aborts the process on a second wait. */
const watched = new Set<number>();

/**
 * Yields each time a socket, TAP or pidfd has something to read, until the signal ends it. Read
 * until nothing is left before asking for the next turn, in small portions if someone else can send
 * without limit. A socket error (such as lost netlink messages) also yields: the next read reports
 * it. Only one wait per descriptor at a time; regular files are refused.
 */
export async function* whenReadable(
  socket: OwnedFd,
  { signal }: ReadableOptions = {},
): AsyncIterable<void> {
  const { fd } = socket;
  refuseUnwatchable(socket);
  watched.add(fd);
  let wake: (() => void) | undefined;
  let ready = false;
  const notify = (): void => {
    ready = true;
    wake?.();
  };
  const handle = pollDescriptor(fd, notify);
  signal?.addEventListener("abort", notify);
  try {
    while (!signal?.aborted) {
      if (!ready) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      ready = false;
      if (signal?.aborted) return;
      yield;
      handle.again();
    }
  } finally {
    signal?.removeEventListener("abort", notify);
    handle.close();
    watched.delete(fd);
  }
}

function refuseUnwatchable(socket: OwnedFd): void {
  const refuse = (problem: string): never => {
    throw new HostError("HOST_ARGUMENT_INVALID", `${socket.what} ${problem}`, {
      path: socket.what,
    });
  };
  if (watched.has(socket.fd)) refuse("is already being waited for; stop that wait first");
  // As bigint: Node 20 keeps the other kind in an array that `realpathSync` reads, which no longer
  // follows links after a socket. The next import then loads packages from another path, and some
  // not at all.
  const status = fstatSync(socket.fd, { bigint: true });
  if (status.isFile() || status.isDirectory()) refuse("is a file, which is always readable");
}
