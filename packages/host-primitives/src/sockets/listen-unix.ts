import { chmodSync } from "node:fs";
import { OwnedFd } from "../owned-fd.ts";
import { acceptConnections, type Listener } from "./accept-connections.ts";
import { unixAddress } from "./connect-unix.ts";
import {
  bindSocket,
  listenSocket,
  newSocket,
  socketFamilies,
  socketTypes,
} from "./socket-calls.ts";

/** How {@link listenUnix} listens. */
export interface ListenOptions {
  /**
   * `sequential` preserves message boundaries, which descriptors that belong together need. Default
   * `stream`.
   */
  readonly type?: "stream" | "sequential";
  /** Who may connect, as the file's mode. Default 0o600: this user, and root. */
  readonly mode?: number;
  /** Connections that wait to be accepted; later ones get `EAGAIN`. Default 16. */
  readonly backlog?: number;
}

/**
 * A unix socket that accepts connections. Closing it leaves its file, which its creator removes.
 */
export type UnixListener = Listener;

/**
 * Listens on a unix socket in a directory of this process. Unlike Node's server it yields its
 * connections as descriptors, so that `peerUser` can identify the client before a byte is read, and
 * descriptors can be received. `EADDRINUSE` if the name exists, even as a link. The mode is set
 * before anyone can connect.
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
  return acceptConnections(socket);
}
