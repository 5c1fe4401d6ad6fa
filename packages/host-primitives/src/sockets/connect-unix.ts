import { setTimeout as sleep } from "node:timers/promises";
import { HostError, hasErrno } from "../host-error.ts";
import { OwnedFd } from "../owned-fd.ts";
import type { SafePath } from "../safe-path/safe-path.ts";
import { connectSocket, newSocket, socketFamilies, socketTypes } from "./socket-calls.ts";

/** Limits of a connection attempt. */
export interface ConnectOptions {
  /** How long to retry while the listener's backlog is full, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
  /**
   * `sequential` preserves message boundaries, which descriptors that belong together need. Default
   * `stream`.
   */
  readonly type?: "stream" | "sequential";
  readonly signal?: AbortSignal;
}

/**
 * Connects to exactly the opened socket inode: a link that has since replaced its name changes
 * nothing, and a handle is never a link itself. The result does not block; pass a stream to `new
 * net.Socket({ fd: socket.release() })`, or use it with `sendDescriptors`.
 */
export async function connectUnix(
  path: SafePath,
  { timeoutMs = 5_000, type = "stream", signal }: ConnectOptions = {},
): Promise<OwnedFd> {
  path.expect("socket");
  const socket = new OwnedFd(
    newSocket(socketFamilies.unix, socketTypes[type], 0),
    `connection to ${path.description}`,
  );
  try {
    const deadline = performance.now() + timeoutMs;
    while (!tryConnect(socket, path)) {
      if (performance.now() >= deadline) throw timedOut(path.description, timeoutMs);
      await sleep(5, undefined, signal ? { signal } : {});
    }
    return socket;
  } catch (error) {
    socket.close();
    throw error;
  }
}

/** A unix address: the family and a path that ends in NUL. */
export function unixAddress(path: string): Buffer {
  const bytes = Buffer.from(path, "utf8");
  if (bytes.length > 107 || bytes.includes(0)) {
    const message = `${JSON.stringify(path)} is not a unix address: it is over 107 bytes long or contains a NUL; use a shorter path`;
    throw new HostError("HOST_ARGUMENT_INVALID", message, { path });
  }
  const address = Buffer.alloc(2 + bytes.length + 1);
  address.writeUInt16LE(socketFamilies.unix, 0);
  bytes.copy(address, 2);
  return address;
}

function tryConnect(socket: OwnedFd, path: SafePath): boolean {
  try {
    connectSocket(socket.fd, unixAddress(path.procPath), path.description);
    return true;
  } catch (error) {
    if (hasErrno(error, "EAGAIN", "EINTR")) return false;
    throw error;
  }
}

function timedOut(description: string, timeoutMs: number): HostError {
  const message = `nobody accepted a connection on ${description} within ${timeoutMs} ms`;
  return new HostError("HOST_TIMEOUT", message, { path: description });
}
