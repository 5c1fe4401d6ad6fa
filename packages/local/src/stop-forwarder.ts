import { readFileSync, readlinkSync } from "node:fs";
import { localProcesses } from "./local-cgroup.ts";

/**
 * Ends the process that forwards a Pod's published ports, so that the new Pod of the guest gets
 * them. Only looks at processes of the Pod's cgroup in this process's own PID namespace, so never
 * at the sandbox's.
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
