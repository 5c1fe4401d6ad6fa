import { Socket } from "node:net";
import { OwnedFd } from "../owned-fd.ts";
import { newSocketPair, replaceDescriptor, socketTypes } from "./socket-calls.ts";

/**
 * A connected stream socket of any family as Node's own stream, with its back-pressure, half-close and speed. Takes the
 * descriptor over: the stream closes it. `new net.Socket({ fd })` alone refuses families that Node does not know,
 * as VSOCK.
 */
export function socketStream(socket: OwnedFd): Socket {
  const { fd, what } = socket;
  const [placeholder, peer] = newSocketPair(socketTypes.stream).map(
    (each) => new OwnedFd(each, `placeholder of ${what}`),
  ) as [OwnedFd, OwnedFd];
  try {
    const number = placeholder.fd;
    const stream = new Socket({ fd: number, readable: true, writable: true });
    placeholder.release();
    // Node looks at the family only when it takes a descriptor over, and the event loop watches the number from its next
    // turn on: what stands behind the number is replaced before that. libuv reads and writes both in the same way.
    replaceDescriptor(fd, number, what);
    return stream;
  } finally {
    placeholder.close();
    peer.close();
    socket.close();
  }
}
