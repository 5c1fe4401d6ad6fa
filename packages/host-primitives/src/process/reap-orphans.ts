import { readdirSync, readFileSync } from "node:fs";
import { hasErrno } from "../host-error.ts";
import { type WaitStatus, waitPid } from "./wait-calls.ts";

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

/** An orphan that has ended. */
export interface ReapedOrphan extends WaitStatus {
  readonly pid: number;
  /** The first 15 bytes of its program's name, unless it chose another. */
  readonly name: string;
}

/**
 * Takes the ended processes that this process inherited, as PID 1 does, out of the process table. Call it
 * on `SIGCHLD`. Returns them, with how each ended. Processes that still run, and those that this process
 * started, are left alone.
 */
export function reapOrphans({ isOwn, proc = "/proc" }: ReapOptions): readonly ReapedOrphan[] {
  return readdirSync(proc)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .flatMap((pid) => {
      const stat = statOf(proc, pid);
      if (!isZombieOf(stat, process.pid) || isOwn(pid)) return [];
      const status = reap(pid);
      return status ? [{ pid, name: nameIn(stat), ...status }] : [];
    });
}

/** Whether a line of `/proc/<pid>/stat` is of an ended child of `parent`. The name in it may hold anything. */
export function isZombieOf(stat: string, parent: number): boolean {
  const [state, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return state === "Z" && Number(ppid) === parent;
}

/** The name in a line of `/proc/<pid>/stat`. */
export function nameIn(stat: string): string {
  return stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
}

function statOf(proc: string, pid: number): string {
  try {
    return readFileSync(`${proc}/${pid}/stat`, "utf8");
  } catch {
    // It has gone while the table was read.
    return "";
  }
}

function reap(pid: number): WaitStatus | undefined {
  try {
    return waitPid(pid);
  } catch (error) {
    if (hasErrno(error, "ECHILD")) return undefined;
    throw error;
  }
}
