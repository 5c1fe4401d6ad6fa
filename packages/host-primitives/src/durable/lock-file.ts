import { closeSync, constants, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { done, foreign } from "../ffi/foreign.ts";
import { HostError, hasErrno } from "../host-error.ts";

// Needed: a lock that the kernel releases however its holder ends; Node has no binding.
// Safe: our own descriptor and constants.
const nativeFlock = foreign("int", "flock", ["int", "int"]);

/** Exclusive, without waiting. */
const tryExclusive = 2 | 4;

/**
 * Locks a file, and creates it if it is missing. The lock lasts until it is disposed of or this
 * process ends. Does not wait: throws `HOST_TIMEOUT` if another process holds the lock.
 */
export function lockFile(path: string): Disposable {
  const fd = open(path);
  try {
    done(nativeFlock(fd, tryExclusive), "flock", path);
  } catch (error) {
    closeSync(fd);
    if (!hasErrno(error, "EAGAIN")) throw error;
    const message = `${path} is locked by another process; "fuser ${path}" shows which`;
    throw new HostError("HOST_TIMEOUT", message, { path, errno: "EAGAIN", cause: error });
  }
  return { [Symbol.dispose]: () => closeSync(fd) };
}

function open(path: string): number {
  try {
    mkdirSync(dirname(path), { recursive: true });
    return openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  } catch (error) {
    throw HostError.from(error, path);
  }
}
