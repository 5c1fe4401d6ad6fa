import { readdirSync, readFileSync } from "node:fs";
import { hasErrno } from "../host-error.ts";
import { type WaitStatus, waitPid } from "./wait-calls.ts";

/** How {@link reapOrphans} distinguishes orphans from children. */
export interface ReapOptions {
  /**
   * Whether this process started the pid itself. Node waits for those; if one was reaped here, Node
   * would never report its end.
   */
  isOwn(pid: number): boolean;
  /** Where the process table is. Default `/proc`. */
  readonly proc?: string;
}

/** An orphan that has ended. */
export interface ReapedOrphan extends WaitStatus {
  readonly pid: number;
  /** The first 15 bytes of the program's name, unless it chose another. */
  readonly name: string;
}

/**
 * Removes ended processes that this process inherited, as PID 1 does, from the process table. Call
 * it on `SIGCHLD`. Returns them with how each ended. Leaves alone processes that still run and
 * those that this process started.
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

/**
 * Whether a line of `/proc/<pid>/stat` describes an ended child of `parent`. The name in it may
 * contain anything.
 */
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
    // It disappeared while the table was read.
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
