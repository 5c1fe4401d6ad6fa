import { readFileSync, readlinkSync } from "node:fs";
import { localProcesses } from "./local-cgroup.ts";

/**
 * Ends the process that passes a Pod's published ports on, so that the one of the Pod into which the guest has
 * moved gets them. Only a process of the Pod's cgroup that is in this process's own PID namespace is looked at:
 * nothing of the sandbox is.
 */
export function stopForwarder(cgroup: string): void {
  for (const pid of localProcesses(cgroup)) if (isForwarder(pid)) process.kill(pid, "SIGKILL");
}

function isForwarder(pid: number): boolean {
  try {
    const isOurs = readlinkSync(`/proc/${pid}/ns/pid`) === readlinkSync("/proc/self/ns/pid");
    const [, ...args] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return isOurs && args.some((each) => each.endsWith("/virtkit-forward-ports.js"));
  } catch {
    // It has ended meanwhile.
    return false;
  }
}
