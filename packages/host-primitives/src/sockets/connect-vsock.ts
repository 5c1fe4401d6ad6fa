import { errnoName, integer, pollDescriptor } from "../ffi/foreign.ts";
import { HostError, hasErrno, isHostError } from "../host-error.ts";
import { OwnedFd } from "../owned-fd.ts";
import {
  connectSocket,
  getSocketOption,
  newSocket,
  setSocketOption,
  socketFamilies,
  socketTypes,
} from "./socket-calls.ts";

/** A port of a guest, or of this host. */
export interface VsockAddress {
  /** 0 is the hypervisor, 1 this host itself (with the module `vsock_loopback`), 2 the host under this one; guests follow. */
  readonly cid: number;
  readonly port: number;
}

/** Bounds of an attempt to connect. */
export interface VsockConnectOptions {
  /** Milliseconds until a peer that does not answer is given up. Default 5,000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** The kernel's own deadline, which is 2 s unless it is set. */
const connectTimeout = { level: socketFamilies.vsock, name: 6 } as const;
const socketError = { level: 1, name: 4 } as const;
/** All ones means any CID or any port, and is nobody's. */
const largest = 0xffff_fffe;

/**
 * Connects to a port of a guest over VSOCK. The result does not block; `socketStream` makes a stream of it.
 *
 * The kernel chooses the way by the CID. If this host is itself a guest and has no `vhost_vsock`, that way leads to the
 * hypervisor under it for every CID: check for `/sys/class/misc/vhost-vsock` before you dial a guest.
 *
 * @throws HostError `HOST_UNSUPPORTED` if the kernel has no VSOCK, `HOST_TIMEOUT` if nobody answers in time, else
 *   `HOST_SYSCALL_FAILED` with the kernel's `errno`. The message names the CID, the port and what to do.
 *
 * @example
 * const socket = await connectVsock({ cid: 3, port: 22 }, { timeoutMs: 2_000 });
 * const stream = socketStream(socket);
 */
export async function connectVsock(
  address: VsockAddress,
  { timeoutMs = 5_000, signal }: VsockConnectOptions = {},
): Promise<OwnedFd> {
  const what = `CID ${address.cid} port ${address.port}`;
  const encoded = encodeVsockAddress(address);
  const timeout = integer(timeoutMs, 1, 0x7fff_ffff, "timeoutMs");
  signal?.throwIfAborted();
  try {
    const socket = new OwnedFd(
      newSocket(socketFamilies.vsock, socketTypes.stream, 0),
      `VSOCK connection to ${what}`,
    );
    try {
      setSocketOption(socket.fd, connectTimeout, timeval(timeout), socket.what);
      await connected(socket, encoded, { timeout, signal });
      return socket;
    } catch (error) {
      socket.close();
      throw error;
    }
  } catch (error) {
    throw explained(error, address, timeout);
  }
}

/** `struct sockaddr_vm`: family, two reserved bytes, port, CID, flags. Pure. */
export function encodeVsockAddress({ cid, port }: VsockAddress): Buffer {
  const address = Buffer.alloc(16);
  address.writeUInt16LE(socketFamilies.vsock, 0);
  address.writeUInt32LE(integer(port, 0, largest, "port"), 4);
  address.writeUInt32LE(integer(cid, 0, largest, "cid"), 8);
  return address;
}

/** `struct timeval` of 64-bit Linux. */
function timeval(milliseconds: number): BigInt64Array {
  return new BigInt64Array([
    BigInt(Math.floor(milliseconds / 1000)),
    BigInt((milliseconds % 1000) * 1000),
  ]);
}

async function connected(
  socket: OwnedFd,
  address: Buffer,
  { timeout, signal }: { readonly timeout: number; readonly signal: AbortSignal | undefined },
): Promise<void> {
  try {
    connectSocket(socket.fd, address, socket.what);
    return;
  } catch (error) {
    if (!hasErrno(error, "EINPROGRESS")) throw error;
  }
  await settled(socket, { timeout, signal });
  const error = getSocketOption(socket.fd, socketError, 4, socket.what).readInt32LE(0);
  if (error !== 0) throw HostError.ofSyscall("connect", errnoName(error), socket.what);
}

/** Until the attempt has succeeded or failed: the socket is then writable. */
function settled(
  socket: OwnedFd,
  { timeout, signal }: { readonly timeout: number; readonly signal: AbortSignal | undefined },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (error?: unknown): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      poll.close();
      if (error) reject(error);
      else resolve();
    };
    const onAbort = (): void => end(signal?.reason);
    const poll = pollDescriptor(socket.fd, () => end(), { writable: true });
    // The kernel's deadline is the same; its error is the better one, so it gets a moment more.
    const timer = setTimeout(() => end(late(socket)), timeout + 100);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

function late(socket: OwnedFd): HostError {
  return HostError.ofSyscall("connect", "ETIMEDOUT", socket.what);
}

/** What each of the kernel's errors means here, and what to do. */
function explained(error: unknown, { cid, port }: VsockAddress, timeout: number): unknown {
  if (!isHostError(error) || error.errno === undefined) return error;
  const { errno, syscall } = error;
  const failed = (code: HostError["code"], message: string): HostError =>
    new HostError(code, message, {
      ...{ path: `CID ${cid} port ${port}`, errno, cause: error },
      ...(syscall === undefined ? {} : { syscall }),
    });
  switch (errno) {
    case "EAFNOSUPPORT":
      return failed(
        "HOST_UNSUPPORTED",
        `CID ${cid} port ${port} cannot be reached: this kernel has no VSOCK; load vhost_vsock, or use a kernel with CONFIG_VHOST_VSOCK`,
      );
    case "ENODEV":
    case "ENETUNREACH":
    case "EHOSTUNREACH":
      return failed(
        "HOST_SYSCALL_FAILED",
        `no guest with CID ${cid} runs on this host (${errno}); check that it runs here and has a VSOCK device, and that vhost_vsock is loaded`,
      );
    case "ECONNRESET":
    case "ECONNREFUSED":
      return failed(
        "HOST_SYSCALL_FAILED",
        `nobody in the guest with CID ${cid} listens on port ${port} (${errno}); start the program that does`,
      );
    case "ETIMEDOUT":
      return failed(
        "HOST_TIMEOUT",
        `the guest with CID ${cid} has not answered on port ${port} within ${timeout} ms; check that it has booted and has the driver virtio_vsock`,
      );
    default:
      return failed(
        "HOST_SYSCALL_FAILED",
        `CID ${cid} port ${port} cannot be reached: ${error.message}`,
      );
  }
}
