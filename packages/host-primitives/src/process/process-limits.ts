import { done, foreign } from "../ffi/foreign.ts";
import { HostError } from "../host-error.ts";
import type { ProcessHandle } from "./process-handle.ts";

/** Resources of a process that can be limited, with the kernel's numbers. */
export const limitNumbers = {
  cpu: 0,
  fsize: 1,
  data: 2,
  stack: 3,
  core: 4,
  rss: 5,
  nproc: 6,
  nofile: 7,
  memlock: 8,
  as: 9,
} as const;

export type LimitName = keyof typeof limitNumbers;

/** A limit, in the resource's own unit. */
export interface ProcessLimit {
  readonly soft: bigint | "unlimited";
  readonly hard: bigint | "unlimited";
}

const unlimited = 0xffff_ffff_ffff_ffffn;

// Needed: limits of a running process; Node cannot change any.
// Safe: both arrays have the two words of struct rlimit64, or the pointer is null.
const nativePrlimit = foreign("int", "prlimit64", ["int", "int", "buffer", "buffer"]);

/** The current limit of a process. */
export function getProcessLimit(process: ProcessHandle, name: LimitName): ProcessLimit {
  const old = new BigUint64Array(2);
  const touched = `${name} limit of ${process.pid}`;
  done(nativePrlimit(process.pid, limitNumbers[name], null, old), "prlimit", touched);
  process.assertAlive();
  const read = (value = 0n): bigint | "unlimited" => (value === unlimited ? "unlimited" : value);
  return { soft: read(old[0]), hard: read(old[1]) };
}

/**
 * Sets a limit of a running process. The kernel takes a pid here. If the process is gone
 * afterwards, `HOST_PROCESS_GONE` says that the call may have reached no process or another one; if
 * it still exists, the call reached it. `EPERM` if the hard limit is raised without
 * `CAP_SYS_RESOURCE`.
 */
export function setProcessLimit(
  process: ProcessHandle,
  name: LimitName,
  limit: ProcessLimit,
): void {
  const write = (value: bigint | "unlimited"): bigint =>
    value === "unlimited" ? unlimited : value;
  const [soft, hard] = [write(limit.soft), write(limit.hard)];
  if (soft < 0n || hard < 0n || soft > unlimited || hard > unlimited || soft > hard) {
    const message = `${name} limit is ${limit.soft}:${limit.hard}; use numbers from 0, with soft at most hard`;
    throw new HostError("HOST_ARGUMENT_INVALID", message, { path: name });
  }
  process.assertAlive();
  const words = new BigUint64Array([soft, hard]);
  const touched = `${name} limit of ${process.pid}`;
  done(nativePrlimit(process.pid, limitNumbers[name], words, null), "prlimit", touched);
  process.assertAlive();
}
