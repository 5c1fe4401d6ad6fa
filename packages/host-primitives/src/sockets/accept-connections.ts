import { setTimeout as sleep } from "node:timers/promises";
import { hasErrno } from "../host-error.ts";
import { OwnedFd } from "../owned-fd.ts";
import { acceptSocket } from "./socket-calls.ts";
import { whenReadable } from "./when-readable.ts";

/** A listening socket that yields connections. */
export interface Listener extends Disposable {
  /**
   * Connections in the order of arrival, until the signal or {@link close} ends it. Iterate it
   * once.
   */
  connections(options?: { readonly signal?: AbortSignal }): AsyncIterable<OwnedFd>;
  close(): void;
}

/** Accepts connections on a listening socket, and owns it from now on. */
export function acceptConnections(socket: OwnedFd): Listener {
  const closing = new AbortController();
  let iterated = false;
  const close = (): void => {
    closing.abort();
    // Otherwise the iteration closes it, after the event loop has released the descriptor.
    if (!iterated) socket.close();
  };
  return {
    async *connections({ signal } = {}) {
      iterated = true;
      const ends = signal ? AbortSignal.any([closing.signal, signal]) : closing.signal;
      const next = (): ReturnType<typeof accept> => (ends.aborted ? undefined : accept(socket));
      try {
        for await (const _ of whenReadable(socket, { signal: ends })) {
          let connection = next();
          for (; connection instanceof OwnedFd; connection = next()) yield connection;
          if (connection === "exhausted") await sleep(exhaustedMs);
        }
      } finally {
        socket.close();
      }
    },
    close,
    [Symbol.dispose]: close,
  };
}

/** How long a listener pauses when it has run out of descriptors; the connection keeps waiting. */
const exhaustedMs = 100;

/**
 * The next waiting connection, if any; skips those that were given up before they were accepted.
 */
function accept(listener: OwnedFd): OwnedFd | "exhausted" | undefined {
  for (;;) {
    try {
      return new OwnedFd(
        acceptSocket(listener.fd, listener.what),
        `connection to ${listener.what}`,
      );
    } catch (error) {
      if (hasErrno(error, "EAGAIN")) return undefined;
      if (hasErrno(error, "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM")) return "exhausted";
      if (!hasErrno(error, "ECONNABORTED", "EINTR")) throw error;
    }
  }
}
