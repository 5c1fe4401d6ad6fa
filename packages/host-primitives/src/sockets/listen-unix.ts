import { chmodSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { hasErrno } from "../host-error.ts";
import { OwnedFd } from "../owned-fd.ts";
import { unixAddress } from "./connect-unix.ts";
import {
  acceptSocket,
  bindSocket,
  listenSocket,
  newSocket,
  socketFamilies,
  socketTypes,
} from "./socket-calls.ts";
import { whenReadable } from "./when-readable.ts";

/** How {@link listenUnix} listens. */
export interface ListenOptions {
  /** `sequential` keeps the bounds of messages, as descriptors that belong together need. Default `stream`. */
  readonly type?: "stream" | "sequential";
  /** Who may connect, as the file's mode. Default 0o600: this user, and root. */
  readonly mode?: number;
  /** Connections that wait to be accepted; later ones get `EAGAIN`. Default 16. */
  readonly backlog?: number;
}

/** A unix socket that takes connections. Closing it leaves its file; the one who made the file removes it. */
export interface UnixListener extends Disposable {
  /** Connections in the order in which they came, until the signal or {@link close} ends it. Iterate it once. */
  connections(options?: { readonly signal?: AbortSignal }): AsyncIterable<OwnedFd>;
  close(): void;
}

/**
 * Listens on a unix socket of this process's own directory. Unlike Node's server it gives its connections
 * as descriptors, so that `peerUser` can tell who connected before a byte is read, and so that descriptors
 * can be received. `EADDRINUSE` where the name exists, a link included. The mode is set before anybody can connect.
 */
export function listenUnix(
  path: string,
  { type = "stream", mode = 0o600, backlog = 16 }: ListenOptions = {},
): UnixListener {
  const what = `listener on ${path}`;
  const socket = new OwnedFd(newSocket(socketFamilies.unix, socketTypes[type], 0), what);
  try {
    bindSocket(socket.fd, unixAddress(path), path);
    chmodSync(path, mode);
    listenSocket(socket.fd, backlog, path);
  } catch (error) {
    socket.close();
    throw error;
  }
  const closing = new AbortController();
  let iterated = false;
  const close = (): void => {
    closing.abort();
    // Else the iteration closes it, after the event loop has let go of the descriptor.
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

/** How long a listener rests that has no descriptors left: the connection goes on to wait. */
const exhaustedMs = 100;

/** The next connection, if one waits; those that were given up before they were accepted are passed over. */
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
