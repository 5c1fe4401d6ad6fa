import { addressOf, done, foreign } from "../ffi/foreign.ts";

export const socketFamilies = {
  unix: 1,
  inet: 2,
  inet6: 10,
  netlink: 16,
  packet: 17,
  vsock: 40,
} as const;
export const socketTypes = { stream: 1, datagram: 2, raw: 3, sequential: 5 } as const;

const closeOnExec = 0o2000000;
const nonBlocking = 0o4000;

// Needed: a socket must be created in a chosen network namespace; Node creates them later and
// elsewhere.
// Safe: integers only; the descriptor is close-on-exec.
const nativeSocket = foreign("int", "socket", ["int", "int", "int"]);

export function newSocket(family: number, type: number, protocol: number): number {
  const all = type | closeOnExec | nonBlocking;
  return done(nativeSocket(family, all, protocol), "socket", `family ${family} type ${type}`);
}

// Needed: two connected sockets, one of which is handed to a child.
// Safe: the array has the two integers that the call writes.
const nativeSocketpair = foreign("int", "socketpair", ["int", "int", "int", "buffer"]);

export function newSocketPair(type: number): readonly [number, number] {
  const pair = new Int32Array(2);
  const all = type | closeOnExec | nonBlocking;
  done(nativeSocketpair(socketFamilies.unix, all, 0, pair), "socketpair", "unix");
  return [pair[0] ?? -1, pair[1] ?? -1];
}

// Needed: Node takes over sockets of the families that it knows; see `socketStream`.
// Safe: integers only; both descriptors are ours.
const nativeDup3 = foreign("int", "dup3", ["int", "int", "int"]);

export function replaceDescriptor(fd: number, replaced: number, touched: string): void {
  done(nativeDup3(fd, replaced, closeOnExec), "dup3", touched);
}

// Needed: binds the namespace's socket before Node ever sees it.
// Safe: the length is that of the buffer.
const nativeBind = foreign("int", "bind", ["int", "buffer", "uint"]);

export function bindSocket(fd: number, address: Buffer, touched: string): void {
  done(nativeBind(fd, address, address.length), "bind", touched);
}

// Needed: connects to exactly the opened socket inode, and shows who listens before a byte is sent.
// Safe: the length is that of the buffer; the socket does not block.
const nativeConnect = foreign("int", "connect", ["int", "buffer", "uint"]);

export function connectSocket(fd: number, address: Buffer, touched: string): void {
  done(nativeConnect(fd, address, address.length), "connect", touched);
}

// Needed: a kind of listener that Node lacks, with connections that carry descriptors.
// Safe: integers only.
const nativeListen = foreign("int", "listen", ["int", "int"]);

export function listenSocket(fd: number, backlog: number, touched: string): void {
  done(nativeListen(fd, backlog), "listen", touched);
}

// Needed: see listen; the connection is then passed to Node or read with descriptors.
// Safe: null pointers mean that the peer's address is not wanted; the descriptor is close-on-exec.
const nativeAccept = foreign("int", "accept4", ["int", "buffer", "buffer", "int"]);

export function acceptSocket(fd: number, touched: string): number {
  return done(nativeAccept(fd, null, null, closeOnExec | nonBlocking), "accept4", touched);
}

// Needed: the kernel chooses the port of a listener, and Node cannot look up a descriptor's
// address.
// Safe: the length word states the buffer's size, and the kernel writes no more than that.
const nativeGetsockname = foreign("int", "getsockname", ["int", "buffer", "buffer"]);

export function socketName(fd: number, touched: string): Buffer {
  const [name, length] = [Buffer.alloc(28), new Uint32Array([28])];
  done(nativeGetsockname(fd, name, length), "getsockname", touched);
  return name.subarray(0, length[0]);
}

// Needed: SO_BINDTODEVICE, ICMPv6 filters and the like have no option in Node.
// Safe: the length is that of the buffer.
const nativeSetsockopt = foreign("int", "setsockopt", ["int", "int", "int", "buffer", "uint"]);

export function setSocketOption(
  fd: number,
  option: { readonly level: number; readonly name: number },
  value: NodeJS.ArrayBufferView,
  touched: string,
): void {
  const { level, name } = option;
  done(nativeSetsockopt(fd, level, name, value, value.byteLength), "setsockopt", touched);
}

// Needed: SO_PEERCRED and SO_PEERPIDFD identify the listener; Node has no access to them.
// Safe: the length word states the buffer's size, and the kernel writes no more than that.
const nativeGetsockopt = foreign("int", "getsockopt", ["int", "int", "int", "buffer", "buffer"]);

export function getSocketOption(
  fd: number,
  option: { readonly level: number; readonly name: number },
  size: number,
  touched: string,
): Buffer {
  const [value, length] = [Buffer.alloc(size), new Uint32Array([size])];
  const { level, name } = option;
  done(nativeGetsockopt(fd, level, name, value, length), "getsockopt", touched);
  return value.subarray(0, length[0]);
}

/** struct msghdr of 64-bit Linux with one data buffer; the buffers must outlive the call. */
function messageHeader(data: Buffer, control: Buffer): { header: Buffer; vector: Buffer } {
  const vector = Buffer.alloc(16);
  vector.writeBigUInt64LE(addressOf(data), 0);
  vector.writeBigUInt64LE(BigInt(data.length), 8);
  const header = Buffer.alloc(56);
  header.writeBigUInt64LE(addressOf(vector), 16);
  header.writeBigUInt64LE(1n, 24);
  if (control.length > 0) header.writeBigUInt64LE(addressOf(control), 32);
  header.writeBigUInt64LE(BigInt(control.length), 40);
  return { header, vector };
}

// Needed: descriptors travel only in the control part of a message; Node's write has none.
// Safe: header, vector, data and control are held in locals until the call has returned.
const nativeSendmsg = foreign("long", "sendmsg", ["int", "buffer", "int"]);

export function sendMessage(fd: number, data: Buffer, control: Buffer, touched: string): number {
  const { header, vector } = messageHeader(data, control);
  const noSignal = 0x4000;
  const sent = done(nativeSendmsg(fd, header, noSignal), "sendmsg", touched);
  keepAlive(vector, data, control);
  return sent;
}

// Needed: see sendmsg; Node's read silently closes received descriptors.
// Safe: see sendmsg; the kernel writes at most the lengths that the header states.
const nativeRecvmsg = foreign("long", "recvmsg", ["int", "buffer", "int"]);

export interface ReceivedMessage {
  readonly bytes: number;
  readonly controlBytes: number;
  /** Whether the control data did not fit. */
  readonly truncated: boolean;
}

export function receiveMessage(
  fd: number,
  data: Buffer,
  control: Buffer,
  touched: string,
): ReceivedMessage {
  const { header, vector } = messageHeader(data, control);
  const closeOnExecReceived = 0x40000000;
  const bytes = done(nativeRecvmsg(fd, header, closeOnExecReceived), "recvmsg", touched);
  keepAlive(vector, data, control);
  const controlTruncated = 0x8;
  return {
    bytes,
    controlBytes: Number(header.readBigUInt64LE(40)),
    truncated: (header.readInt32LE(48) & controlTruncated) !== 0,
  };
}

/** Uses its arguments after the call, so that they are not garbage-collected during it. */
function keepAlive(...buffers: readonly Buffer[]): number {
  return buffers.length;
}
