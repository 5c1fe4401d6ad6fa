import { closeSync, constants, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { done, foreign } from "../ffi/foreign.ts";
import { HostError, hasErrno } from "../host-error.ts";
import { bindByPath, shareByPath } from "../mounts/mount-calls.ts";

// Needed: the lock that `ip netns` takes; Node has no binding.
// Safe: our own descriptor and constants.
const nativeFlock = foreign("int", "flock", ["int", "int"]);

/** Exclusive, and without waiting in the call. */
const tryExclusive = 2 | 4;

const retryInterval = 5;

/**
 * Makes a directory of the host a shared mount of its own; does nothing if it is a mount already. Anything
 * that is mounted in it earlier would be hidden by any process that does this later, and could no longer be
 * removed. Takes the lock that `ip netns add` takes for the same purpose.
 *
 * @param timeout Milliseconds to wait for the lock, which any user may hold.
 */
export async function shareDirectory(directory: string, timeout = 10_000): Promise<void> {
  if (isShared(directory)) return;
  const fd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await lock(fd, directory, performance.now() + timeout);
    // Someone else may have been faster.
    if (isShared(directory)) return;
    bindByPath(directory, directory, true);
    shareByPath(directory);
  } finally {
    closeSync(fd);
  }
}

function isShared(directory: string): boolean {
  try {
    shareByPath(directory);
    return true;
  } catch (error) {
    if (hasErrno(error, "EINVAL")) return false;
    throw error;
  }
}

async function lock(fd: number, directory: string, deadline: number): Promise<void> {
  for (;;) {
    try {
      done(nativeFlock(fd, tryExclusive), "flock", directory);
      return;
    } catch (error) {
      if (!hasErrno(error, "EAGAIN", "EINTR")) throw error;
      if (performance.now() > deadline) throw locked(directory, error);
    }
    await sleep(retryInterval);
  }
}

function locked(directory: string, cause: unknown): HostError {
  const message = `another process has locked ${directory} for too long; "fuser ${directory}" shows which`;
  return new HostError("HOST_TIMEOUT", message, { path: directory, errno: "EAGAIN", cause });
}
