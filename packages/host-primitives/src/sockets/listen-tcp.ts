import { OwnedFd } from "../owned-fd.ts";
import { acceptConnections, type Listener } from "./accept-connections.ts";
import { decodeAddress, encodeAddress, type InternetAddress } from "./socket-address.ts";
import {
  bindSocket,
  listenSocket,
  newSocket,
  setSocketOption,
  socketName,
  socketTypes,
} from "./socket-calls.ts";

/** A TCP socket that accepts connections. */
export interface TcpListener extends Listener {
  readonly port: number;
}

const reuseAddress = { level: 1, name: 2 } as const;

/**
 * Listens on a numeric address; without a port, or with port 0, the kernel chooses. Unlike Node's
 * server it yields its connections as descriptors, for `new net.Socket({ fd: connection.release(),
 * onread })`: Node's own accepted sockets do not support `onread`, and without it every read
 * allocates memory.
 */
export function listenTcp(
  address: InternetAddress,
  { backlog = 128 }: { readonly backlog?: number } = {},
): TcpListener {
  const encoded = encodeAddress(address);
  const what = `listener on ${address.address}:${address.port ?? 0}`;
  const socket = new OwnedFd(newSocket(encoded.readUInt16LE(0), socketTypes.stream, 0), what);
  try {
    setSocketOption(socket.fd, reuseAddress, new Int32Array([1]), what);
    bindSocket(socket.fd, encoded, what);
    listenSocket(socket.fd, backlog, what);
    const port = decodeAddress(socketName(socket.fd, what))?.port ?? 0;
    return { port, ...acceptConnections(socket) };
  } catch (error) {
    socket.close();
    throw error;
  }
}
