import { OwnedFd } from "../owned-fd.ts";
import { acceptConnections, type Listener } from "./accept-connections.ts";
import { encodeVsockAddress } from "./connect-vsock.ts";
import {
  bindSocket,
  listenSocket,
  newSocket,
  socketFamilies,
  socketTypes,
} from "./socket-calls.ts";

/** The CID of a host, as its guests dial it. */
export const vsockHostCid = 2;

/**
 * Takes VSOCK connections on a port. With the CID of a host, which is the default, they come from its guests; with
 * 1, from this host itself (module `vsock_loopback`). `socketStream` makes a stream of each.
 */
export function listenVsock({
  cid = vsockHostCid,
  port,
}: {
  readonly cid?: number;
  readonly port: number;
}): Listener {
  const address = encodeVsockAddress({ cid, port });
  const what = `VSOCK listener on CID ${cid} port ${port}`;
  const socket = new OwnedFd(newSocket(socketFamilies.vsock, socketTypes.stream, 0), what);
  try {
    bindSocket(socket.fd, address, what);
    listenSocket(socket.fd, 128, what);
    return acceptConnections(socket);
  } catch (error) {
    socket.close();
    throw error;
  }
}
