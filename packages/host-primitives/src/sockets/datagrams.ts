import { isIPv6 } from "node:net";
import { integer } from "../ffi/foreign.ts";
import { hasErrno } from "../host-error.ts";
import type { OwnedFd } from "../owned-fd.ts";
import { socketAddress } from "./open-socket.ts";
import { receiveMessage, sendMessage, socketFamilies } from "./socket-calls.ts";

/** One message of a socket that Node's event loop does not know: netlink, ICMPv6. */
export interface Datagram {
  readonly data: Buffer;
  /** The sender's IPv6 address, without a zone; absent for other families. */
  readonly from?: string;
  /** Whether it was longer than `maxBytes`, and cut. */
  readonly truncated: boolean;
}

const none: Buffer = Buffer.alloc(0);
const addressBytes = 28;

/**
 * Sends one message: to an IPv6 address, or to the kernel where `to` is left out (netlink). `EAGAIN`
 * where the buffer is full.
 */
export function sendDatagram(socket: OwnedFd, data: Buffer, to?: string): void {
  const address = to === undefined ? undefined : socketAddress("udp6", to, 0);
  sendMessage(socket.fd, data, none, socket.what, address);
}

/** Receives one message; undefined where there is none. */
export function receiveDatagram(socket: OwnedFd, maxBytes = 65_536): Datagram | undefined {
  const data = Buffer.allocUnsafe(integer(maxBytes, 1, 1024 * 1024, "maxBytes"));
  const address = Buffer.alloc(addressBytes);
  try {
    const message = receiveMessage(socket.fd, data, none, socket.what, address);
    const from = senderOf(address);
    return {
      data: data.subarray(0, message.bytes),
      truncated: message.dataTruncated,
      ...(from === undefined ? {} : { from }),
    };
  } catch (error) {
    if (hasErrno(error, "EAGAIN", "EINTR")) return undefined;
    throw error;
  }
}

function senderOf(address: Buffer): string | undefined {
  if (address.readUInt16LE(0) !== socketFamilies.inet6) return undefined;
  const groups = Array.from({ length: 8 }, (_, index) =>
    address.readUInt16BE(8 + 2 * index).toString(16),
  );
  const text = groups.join(":");
  return isIPv6(text) ? text : undefined;
}
