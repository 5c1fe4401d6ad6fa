import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join, resolve } from "node:path";
import {
  createNetworkNamespace,
  deleteNetworkNamespace,
} from "@virtkit/host-primitives/namespaces";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { acceptForwarded, withdrawForwarded } from "./forward-policy.ts";
import type { LocalNames } from "./local-names.ts";
import { type NetworkMode, networkTable } from "./network-table.ts";
import { runTool } from "./run-tool.ts";

/** The network of one Pod. */
export interface LocalNetwork {
  readonly podAddress: string;
  readonly hostAddress: string;
}

/** The names of what a Pod's network is made of. */
type NetworkNames = Pick<LocalNames, "networkNamespace" | "hostLink" | "nftTable">;

/** Every Pod has four addresses of 10.87.0.0/16: the second is the host's, the third the Pod's. */
const base = "10.87";
const maxNetworks = 16_384;

function addresses(index: number): LocalNetwork {
  const address = (offset: number): string => {
    const number = index * 4 + offset;
    return `${base}.${number >> 8}.${number & 255}`;
  };
  return { hostAddress: address(1), podAddress: address(2) };
}

/**
 * Takes addresses that no other Pod of the state directory has. The claim is a file that only one
 * process can create, and contains the Pod's UID: after a crash the same Pod gets the same
 * addresses.
 */
export async function claimAddresses(
  stateDirectory: string,
  podUid: string,
): Promise<LocalNetwork> {
  const folder = join(stateDirectory, "networks");
  await mkdir(folder, { recursive: true });
  const owned = await claimedBy(folder, podUid);
  if (owned !== undefined) return addresses(owned);
  const used = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const first = firstIndex(stateDirectory);
  for (let step = 0; step < maxNetworks; step++) {
    const index = (first + step) % maxNetworks;
    const network = addresses(index);
    if (used.some(({ address }) => address === network.hostAddress)) continue;
    try {
      await writeFile(join(folder, String(index)), podUid, { flag: "wx" });
      return network;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  const message = `all ${maxNetworks} networks of ${base}.0.0/16 are in use; remove VMIs with: virtkit rm NAME`;
  throw new NodeAgentError("AGENT_SANDBOX", message, { path: folder });
}

/** State directories look for addresses from different places, so that two of them rarely choose the same at once. */
function firstIndex(stateDirectory: string): number {
  const digest = createHash("sha256").update(resolve(stateDirectory)).digest();
  return digest.readUInt32BE(0) % maxNetworks;
}

async function claimedBy(folder: string, podUid: string): Promise<number | undefined> {
  for (const name of await readdir(folder)) {
    // Given back meanwhile.
    const owner = await readFile(join(folder, name), "utf8").catch(() => "");
    if (owner === podUid) return Number(name);
  }
  return undefined;
}

/** Gives the addresses back. */
export async function releaseAddresses(stateDirectory: string, podUid: string): Promise<void> {
  const folder = join(stateDirectory, "networks");
  // Where no folder is, none are taken.
  const index = await claimedBy(folder, podUid).catch(() => undefined);
  if (index !== undefined) await rm(join(folder, String(index)), { force: true });
}

/**
 * Gives a Pod a network namespace with `lo` and `eth0`, a veth to the host, and lets it out behind
 * the host's address; the mode decides what else it reaches, and who reaches it. Replaces parts of
 * an interrupted attempt. The tools run in the Pod's cgroup: once that has ended, nothing is
 * created any more, even if this process was killed while a tool ran.
 */
export async function createLocalNetwork(
  names: NetworkNames,
  network: LocalNetwork,
  mode: NetworkMode,
  cgroups: readonly string[] = [],
): Promise<void> {
  await removeLocalNetwork(names);
  const { networkNamespace, hostLink } = names;
  (await createNetworkNamespace(networkNamespace)).close();
  const peer = `${hostLink}p`.slice(-15);
  // Before there is a link: the Pod is contained at every moment.
  await runTool("nft", ["-f", "-"], { cgroups, input: networkTable(names, network, mode) });
  await runTool("ip", ["-batch", "-"], {
    cgroups,
    input: `link add ${hostLink} type veth peer name ${peer} netns ${networkNamespace}`,
  });
  // Stays in force even if someone flushes every rule of the host.
  if (mode === "isolated") await setting(`ipv6/conf/${hostLink}/disable_ipv6`, "1");
  await setting(`ipv4/conf/${hostLink}/forwarding`, "1");
  await runTool("ip", ["-batch", "-"], {
    cgroups,
    input: `addr add ${network.hostAddress}/30 dev ${hostLink}\nlink set ${hostLink} up`,
  });
  await requireOwnAddress(network, hostLink);
  await runTool("ip", ["-n", networkNamespace, "-batch", "-"], {
    cgroups,
    input: [
      `link set ${peer} name eth0`,
      "link set lo up",
      `addr add ${network.podAddress}/30 dev eth0`,
      "link set eth0 up",
      `route add default via ${network.hostAddress}`,
    ].join("\n"),
  });
  await acceptForwarded(hostLink, cgroups);
}

/**
 * Two state directories may choose the same addresses at once, and answers to one Pod would go to
 * the other. Checked once the address is ours: of two, the later one sees both.
 */
async function requireOwnAddress({ hostAddress }: LocalNetwork, hostLink: string): Promise<void> {
  const lines = await runTool("ip", ["-4", "-o", "address", "show", "to", `${hostAddress}/32`]);
  const links = [...lines.matchAll(/^\d+:\s+(\S+)/gm)].map(([, link]) => link);
  const other = links.find((link) => link !== hostLink);
  if (other === undefined) return;
  const message = `the address ${hostAddress} was assigned to the link ${other} at the same time; start the VMI again`;
  throw new NodeAgentError("AGENT_SANDBOX", message, { path: hostLink });
}

async function setting(path: string, value: string): Promise<void> {
  const file = `/proc/sys/net/${path}`;
  // A kernel without IPv6 has no settings of it.
  if (existsSync(file)) await writeFile(file, value);
}

/** Removes what {@link createLocalNetwork} created, or any part of it. */
export async function removeLocalNetwork(names: NetworkNames): Promise<void> {
  // The link first, while its rules still hold: a namespace lives on while a process is in it, and its end
  // of the veth with it.
  const link = `/sys/class/net/${names.hostLink}`;
  if (existsSync(link)) {
    await runTool("ip", ["link", "delete", names.hostLink]).catch((error: unknown) => {
      // Whoever removes it at the same time may be quicker.
      if (existsSync(link)) throw error;
    });
  }
  // Added first, so that there is one to delete: that avoids asking whether it exists.
  const table = `inet ${names.nftTable}`;
  await runTool("nft", ["-f", "-"], { input: `add table ${table}\ndelete table ${table}\n` });
  await withdrawForwarded(names.hostLink);
  deleteNetworkNamespace(names.networkNamespace);
}
