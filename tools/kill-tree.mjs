import { spawnSync } from "node:child_process";

/**
 * Kills the processes that a process has started, and their descendants; not those that have detached.
 * @param {number} ancestor
 */
export function killDescendants(ancestor) {
  for (const pid of descendants(ancestor)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has already ended.
    }
  }
}

/** @param {number} ancestor @returns {number[]} none if the system does not report them */
function descendants(ancestor) {
  const { stdout } = spawnSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" });
  const pairs = (stdout ?? "").split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  const found = new Set([ancestor]);
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const [pid = 0, parent = 0] of pairs) if (found.has(parent)) found.add(pid);
  }
  found.delete(ancestor);
  return [...found];
}
