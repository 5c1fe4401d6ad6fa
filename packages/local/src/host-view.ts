import { readdir } from "node:fs/promises";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { listLocalCgroups, localProcesses } from "./local-cgroup.ts";
import { type ListedOwner, listPodOwners } from "./pod-owner.ts";
import { tryTool } from "./run-tool.ts";

/**
 * Where Pods of local mode leave traces outside their state directory. Each answer is complete, or
 * the call throws: what cannot be seen is not absent.
 */
export interface HostView {
  networkNamespaces(): Promise<readonly string[]>;
  links(): Promise<readonly string[]>;
  /** nftables tables of the family `inet`. */
  tables(): Promise<readonly string[]>;
  /** Cgroups below `virtkit`. */
  cgroups(): Promise<readonly string[]>;
  /** How many processes a cgroup has. */
  processes(cgroup: string): number;
  owners(): Promise<readonly ListedOwner[]>;
}

/** This host. */
export const thisHost: HostView = {
  networkNamespaces: () => names("/run/netns"),
  links: () => names("/sys/class/net"),
  tables: listTables,
  cgroups: async () => listLocalCgroups(),
  processes: (cgroup) => localProcesses(cgroup).length,
  owners: () => listPodOwners(),
};

async function names(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

async function listTables(): Promise<readonly string[]> {
  const { code, stdout, stderr } = await tryTool("nft", ["list", "tables", "inet"]);
  if (code !== 0) {
    const message = `nft cannot list the tables of this host: ${stderr.trim().slice(0, 200)}; run it as root (sudo -E)`;
    throw new NodeAgentError("AGENT_SANDBOX", message, { path: "nft" });
  }
  return [...stdout.matchAll(/^table inet (\S+)$/gm)].map(([, table = ""]) => table);
}
