import { constants, endianness } from "node:os";
import { done, foreign, integer } from "../ffi/foreign.ts";

const noHang = 1;

// Needed: Node waits only for the children that it started; PID 1 also gets orphans.
// Safe: integers, and our own buffer, which has room for the one integer that the call writes into
// it.
const nativeWaitpid = foreign("int", "waitpid", ["int", "buffer", "int"]);

/** How a process ended: with an exit code, or by a signal. */
export interface WaitStatus {
  readonly code?: number;
  /** Such as `SIGKILL`; `signal 40` for one without a name. */
  readonly signal?: string;
}

/**
 * Removes an ended child from the process table and returns how it ended; undefined while it runs.
 * `ECHILD` if it is not a child.
 */
export function waitPid(pid: number): WaitStatus | undefined {
  integer(pid, 1, 4_194_304, "pid");
  const status = Buffer.alloc(4);
  if (done(nativeWaitpid(pid, status, noHang), "waitpid", `pid ${pid}`) === 0) return undefined;
  return readWaitStatus(endianness() === "LE" ? status.readInt32LE() : status.readInt32BE());
}

/** Decodes the status of `waitpid`: the signal is in the lowest 7 bits, the code above the 8th. */
export function readWaitStatus(status: number): WaitStatus {
  const number = status & 0x7f;
  if (number === 0) return { code: (status >> 8) & 0xff };
  const name = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return { signal: name ?? `signal ${number}` };
}
