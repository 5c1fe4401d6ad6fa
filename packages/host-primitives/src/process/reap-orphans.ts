import { readdirSync, readFileSync } from "node:fs";
import { hasErrno } from "../host-error.ts";
import { waitPid } from "./wait-calls.ts";

/** How {@link reapOrphans} tells orphans from children. */
export interface ReapOptions {
  /**
   * Whether this process started the pid itself. Node waits for those; one that was taken away from it would
   * never be reported as ended.
   */
  isOwn(pid: number): boolean;
  /** Where the process table is. Default `/proc`. */
  readonly proc?: string;
}

/**
 * Takes the ended processes that this process inherited, as PID 1 does, out of the process table. Call it
 * on `SIGCHLD`. Returns their pids. Processes that still run, and those that this process started, are
 * left alone.
 */
export function reapOrphans({ isOwn, proc = "/proc" }: ReapOptions): readonly number[] {
  return readdirSync(proc)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isEndedChild(proc, pid) && !isOwn(pid) && reap(pid));
}

/** Whether a line of `/proc/<pid>/stat` is of an ended child of `parent`. The name in it may hold anything. */
export function isZombieOf(stat: string, parent: number): boolean {
  const [state, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return state === "Z" && Number(ppid) === parent;
}

function isEndedChild(proc: string, pid: number): boolean {
  try {
    return isZombieOf(readFileSync(`${proc}/${pid}/stat`, "utf8"), process.pid);
  } catch {
    // It has gone while the table was read.
    return false;
  }
}

function reap(pid: number): boolean {
  try {
    return waitPid(pid);
  } catch (error) {
    if (hasErrno(error, "ECHILD")) return false;
    throw error;
  }
}
