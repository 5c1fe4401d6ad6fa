import { closeSync, constants, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { done, foreign } from "../ffi/foreign.ts";
import { HostError, hasErrno } from "../host-error.ts";

// Needed: a lock that the kernel takes back when its holder ends in any way; Node has no binding.
// Safe: a descriptor of ours and constants.
const nativeFlock = foreign("int", "flock", ["int", "int"]);

/** Exclusive, and without waiting. */
const tryExclusive = 2 | 4;

/**
 * Takes the lock of a file, which is made where it is missing, until it is disposed of or this process ends, however that
 * is. `HOST_TIMEOUT` where another one has it: there is no waiting.
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
