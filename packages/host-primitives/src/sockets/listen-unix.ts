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
  /** `sequential` keeps the bounds of messages, as descriptors that belong together need. Default `stream`. */
  readonly type?: "stream" | "sequential";
  /** Who may connect, as the file's mode. Default 0o600: this user, and root. */
  readonly mode?: number;
  /** Connections that wait to be accepted; later ones get `EAGAIN`. Default 16. */
  readonly backlog?: number;
}

/** A unix socket that takes connections. Closing it leaves its file; the one who made the file removes it. */
export type UnixListener = Listener;

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
  return acceptConnections(socket);
}
