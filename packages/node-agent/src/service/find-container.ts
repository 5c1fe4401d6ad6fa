import { readdirSync } from "node:fs";
import { isHostError } from "@virtkit/host-primitives";
import { parseProcCgroup } from "@virtkit/host-primitives/cgroups";
import { ProcessHandle, podOfCgroups } from "@virtkit/host-primitives/process";
import type { ContainerName } from "./node-host.ts";

/**
 * Opens the first process of a container, by the cgroup that the kubelet made for it. Undefined if none is visible.
 * What a process says about itself (its command line, its environment) counts for nothing, and another container of
 * the same Pod is not it. The caller closes the result.
 */
export function findContainer(
  { podUid, containerID }: ContainerName,
  { proc = "/proc" }: { readonly proc?: string } = {},
): ProcessHandle | undefined {
  const wanted = containerID.slice(containerID.indexOf("://") + 3);
  for (const name of readdirSync(proc)) {
    if (!/^\d+$/.test(name)) continue;
    const process = openQuietly(Number(name));
    if (!process) continue;
    if (isFirstOf(process, podUid, wanted)) return process;
    process.close();
  }
  return undefined;
}

function openQuietly(pid: number): ProcessHandle | undefined {
  try {
    return ProcessHandle.open(pid);
  } catch (error) {
    // It ended meanwhile, or is a thread.
    if (isHostError(error)) return undefined;
    throw error;
  }
}

/** Checked through the open handle, so that it is the same process all the time. */
function isFirstOf(process: ProcessHandle, podUid: string, containerId: string): boolean {
  try {
    const found = podOfCgroups(parseProcCgroup(process.read("cgroup")));
    if (found?.podUid !== podUid || found.containerId !== containerId) return false;
    return process.status().namespacePids.at(-1) === 1;
  } catch (error) {
    if (isHostError(error)) return false;
    throw error;
  }
}
