import { rm } from "node:fs/promises";
import { abandonedClusters, type ClusterClaim } from "./cluster-claim.ts";
import { removeBridge } from "./cluster-network.ts";
import { removeCgroup } from "./node-cgroups.ts";

/**
 * Removes what a cluster leaves when all its processes have ended: bridge, cgroups and files. Skips
 * what is already gone.
 */
export async function removeCluster(
  directory: string,
  claim: Pick<ClusterClaim, "bridge" | "cgroup"> | undefined,
): Promise<void> {
  if (claim) {
    await removeBridge(claim);
    await removeCgroup(claim.cgroup);
  }
  // Last: as long as the directory is there, the next start finds the rest.
  await rm(directory, { recursive: true, force: true });
}

/** Removes every cluster whose owner was killed; its processes have ended with it. */
export async function removeAbandoned(parent: string): Promise<void> {
  for (const { directory, claim } of await abandonedClusters(parent)) {
    await removeCluster(directory, claim);
  }
}
