import { readdirSync } from "node:fs";
import { isHostError } from "@virtkit/host-primitives";
import { ProcessHandle, setProcessLimit } from "@virtkit/host-primitives/process";

/**
 * Lets all processes of a sandbox lock this much memory: its first one, which new ones inherit from, and those
 * already running, including the libvirt daemon. Processes that end meanwhile are skipped.
 */
export function setLockLimit(first: ProcessHandle, bytes: bigint): void {
  const limit = { soft: bytes, hard: bytes };
  setProcessLimit(first, "memlock", limit);
  const space = first.namespaceIdentities().pid;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name) || Number(name) === first.pid) continue;
    try {
      using process = ProcessHandle.open(Number(name));
      const own = process.namespaceIdentities().pid;
      if (own !== undefined && own === space) setProcessLimit(process, "memlock", limit);
    } catch (error) {
      if (!isHostError(error) || error.code !== "HOST_PROCESS_GONE") throw error;
    }
  }
}
