import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheDirectory } from "../cache-directory.ts";
import { LabError } from "../lab-error.ts";

/**
 * What is on disk about a cluster, so that others can identify its owner and remove what is left of
 * it.
 */
export interface ClusterClaim {
  readonly name: string;
  readonly bridge: string;
  readonly cgroup: string;
  /** The process that started the cluster, uniquely identified. */
  readonly owner: string;
}

/** The directory that has one directory for each cluster of this user. */
export function clustersDirectory(): string {
  return cacheDirectory("clusters");
}

const claimFile = "claim.json";

/** Records that a cluster belongs to this process. */
export async function claimCluster(
  directory: string,
  claim: Omit<ClusterClaim, "owner">,
): Promise<void> {
  await mkdir(join(directory, ".."), { recursive: true });
  await mkdir(directory, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
    throw inUse(claim.name, error);
  });
  const owned: ClusterClaim = { ...claim, owner: identity(process.pid) ?? "" };
  await writeFile(join(directory, claimFile), JSON.stringify(owned));
}

/** The clusters whose owner has ended: by a kill, a crash, or a reboot. */
export async function abandonedClusters(
  parent: string,
): Promise<{ directory: string; claim: ClusterClaim | undefined }[]> {
  if (!existsSync(parent)) return [];
  const found = [];
  for (const name of await readdir(parent)) {
    const directory = join(parent, name);
    const claim = await readClaim(directory);
    if (!claim || !isAlive(claim.owner)) found.push({ directory, claim });
  }
  return found;
}

/** Throws if a cluster of that name belongs to a process that is alive. */
export async function assertUnclaimed(directory: string, name: string): Promise<void> {
  if ((await readClaim(directory)) !== undefined) throw inUse(name);
}

function inUse(name: string, cause?: unknown): LabError {
  const message = `name: there is a cluster "${name}" already; choose another name`;
  return new LabError("LAB_IN_USE", message, { cause });
}

async function readClaim(directory: string): Promise<ClusterClaim | undefined> {
  try {
    return JSON.parse(await readFile(join(directory, claimFile), "utf8")) as ClusterClaim;
  } catch {
    // A cluster that was never completely claimed, or was half removed: nobody owns it.
    return undefined;
  }
}

/** A pid alone may mean another process by now. */
function identity(pid: number): string | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${pid} ${fields[19]} ${boot}`;
  } catch {
    // It has ended.
    return undefined;
  }
}

function isAlive(owner: string): boolean {
  return identity(Number(owner.split(" ")[0])) === owner;
}
