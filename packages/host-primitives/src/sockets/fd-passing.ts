import { integer } from "../ffi/foreign.ts";
import { HostError } from "../host-error.ts";
import { OwnedFd } from "../owned-fd.ts";
import { closeQuietly } from "../safe-path/safe-path.ts";
import { newSocketPair, receiveMessage, sendMessage, socketTypes } from "./socket-calls.ts";

/** The most descriptors that the kernel passes in one message. */
const maxDescriptors = 253;
const headerBytes = 16;
const rights = 1;
const socketLevel = 1;

/** Control data that carries descriptors: one `SCM_RIGHTS` header and their numbers. Pure. */
export function encodeRights(fds: readonly number[]): Buffer {
  if (fds.length === 0) return Buffer.alloc(0);
  const length = headerBytes + 4 * fds.length;
  const control = Buffer.alloc(Math.ceil(length / 8) * 8);
  control.writeBigUInt64LE(BigInt(length), 0);
  control.writeInt32LE(socketLevel, 8);
  control.writeInt32LE(rights, 12);
  for (const [index, fd] of fds.entries()) control.writeInt32LE(fd, headerBytes + 4 * index);
  return control;
}

/** Numbers of the descriptors in control data with any number of `SCM_RIGHTS` headers. Pure. */
export function decodeRights(control: Buffer): number[] {
  const fds: number[] = [];
  for (let at = 0; at + headerBytes <= control.length; ) {
    const length = Number(control.readBigUInt64LE(at));
    if (length < headerBytes || at + length > control.length) break;
    if (control.readInt32LE(at + 8) === socketLevel && control.readInt32LE(at + 12) === rights) {
      for (let place = at + headerBytes; place + 4 <= at + length; place += 4) {
        fds.push(control.readInt32LE(place));
      }
    }
    at += Math.ceil(length / 8) * 8;
  }
  return fds;
}

/**
 * Sends bytes and descriptors over a connected unix socket, in one message. The descriptors stay
 * open here. Send at least one byte; `EAGAIN` if the other side does not read.
 */
export function sendDescriptors(
  socket: OwnedFd,
  data: Buffer,
  descriptors: readonly { readonly fd: number }[],
): void {
  integer(data.length, 1, 65_536, "data.length");
  integer(descriptors.length, 0, maxDescriptors, "descriptors.length");
  const control = encodeRights(descriptors.map(({ fd }) => fd));
  const sent = sendMessage(socket.fd, data, control, socket.what);
  if (sent === data.length) return;
  // The descriptors were sent with the first byte: sending the rest again would not send them
  // twice.
  const message = `only ${sent} of ${data.length} bytes were sent to ${socket.what}; send less`;
  throw new HostError("HOST_LIMIT_EXCEEDED", message, { path: socket.what });
}

/** Limits of {@link receiveDescriptors}. */
export interface ReceiveOptions {
  /** Default 65,536. */
  readonly maxBytes?: number;
  /** If there are more, all are closed and the message is refused. Default 16. */
  readonly maxDescriptors?: number;
}

/**
 * Receives one message with its descriptors, which the caller owns. If there are too many, all are
 * closed and `HOST_LIMIT_EXCEEDED` is thrown. No data means that the other side has closed. Node
 * must not read the socket at the same time, because it drops descriptors.
 */
export function receiveDescriptors(
  socket: OwnedFd,
  { maxBytes = 65_536, maxDescriptors: most = 16 }: ReceiveOptions = {},
): { readonly data: Buffer; readonly descriptors: readonly OwnedFd[] } {
  integer(maxBytes, 1, 1024 * 1024, "maxBytes");
  integer(most, 0, maxDescriptors, "maxDescriptors");
  const data = Buffer.alloc(maxBytes);
  const control = Buffer.alloc(Math.ceil((headerBytes + 4 * most) / 8) * 8);
  const message = receiveMessage(socket.fd, data, control, socket.what);
  const fds = decodeRights(control.subarray(0, message.controlBytes));
  if (message.truncated || fds.length > most) {
    fds.forEach(closeQuietly);
    const text = `${socket.what} sent more than ${most} descriptors; they were closed`;
    throw new HostError("HOST_LIMIT_EXCEEDED", text, { path: socket.what });
  }
  const descriptors = fds.map((fd) => new OwnedFd(fd, `descriptor from ${socket.what}`));
  return { data: data.subarray(0, message.bytes), descriptors };
}

/** Two connected unix sockets: keep one, pass the other to a child. */
export function socketPair(type: keyof typeof socketTypes = "stream"): readonly [OwnedFd, OwnedFd] {
  const [left, right] = newSocketPair(socketTypes[type]);
  return [new OwnedFd(left, "socket pair, left"), new OwnedFd(right, "socket pair, right")];
}
