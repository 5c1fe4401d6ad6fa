import { done, foreign, integer } from "../ffi/foreign.ts";
import { HostError, hasErrno } from "../host-error.ts";
import type { OwnedFd } from "../owned-fd.ts";
import { decodeAddress, encodeAddress, type InternetAddress } from "./socket-address.ts";

// Needed: raw and netlink sockets, which Node's dgram does not accept, and addresses with a scope.
// Safe: both lengths are those of the buffers, or 0 with a null pointer.
const nativeSendto = foreign("long", "sendto", [
  "int",
  "buffer",
  "size_t",
  "int",
  "buffer",
  "uint",
]);

/**
 * Sends one datagram, to `to` or to where the socket is connected. Never waits: `EAGAIN` if it
 * would.
 */
export function sendDatagram(socket: OwnedFd, data: Buffer, to?: InternetAddress): void {
  const address = to ? encodeAddress(to) : null;
  const noSignal = 0x4000;
  const length = address?.length ?? 0;
  done(
    nativeSendto(socket.fd, data, data.length, noSignal, address, length),
    "sendto",
    to ? `${socket.what} to ${to.address}` : socket.what,
  );
}

// Needed: see sendto; also, only its flags make the kernel report that a datagram was cut short.
// Safe: the kernel writes no more than the lengths that it is given.
const nativeRecvfrom = foreign("long", "recvfrom", [
  "int",
  "buffer",
  "size_t",
  "int",
  "buffer",
  "buffer",
]);

/** A datagram that was received. */
export interface Datagram {
  readonly data: Buffer;
  /** Absent if the sender has no address, like the kernel on a netlink socket. */
  readonly from?: InternetAddress;
}

/**
 * Takes the next datagram; returns undefined immediately if there is none. `HOST_LIMIT_EXCEEDED` if
 * it has more than `maxBytes` (the rest is lost), `ENOBUFS` if a netlink socket lost messages.
 */
export function receiveDatagram(
  socket: OwnedFd,
  { maxBytes = 65_536 }: { readonly maxBytes?: number } = {},
): Datagram | undefined {
  const data = Buffer.allocUnsafe(integer(maxBytes, 1, 16 * 1024 * 1024, "maxBytes"));
  const [address, addressLength] = [Buffer.alloc(128), new Uint32Array([128])];
  const truncate = 0x20;
  let length: number;
  try {
    length = done(
      nativeRecvfrom(socket.fd, data, data.length, truncate, address, addressLength),
      "recvfrom",
      socket.what,
    );
  } catch (error) {
    if (hasErrno(error, "EAGAIN", "EINTR")) return undefined;
    throw error;
  }
  if (length > maxBytes) {
    const message = `a datagram of ${length} bytes arrived on ${socket.what}; at most ${maxBytes} are accepted`;
    throw new HostError("HOST_LIMIT_EXCEEDED", message, { path: socket.what });
  }
  const from = decodeAddress(address.subarray(0, addressLength[0]));
  return { data: data.subarray(0, length), ...(from && { from }) };
}
