import { readFile } from "node:fs/promises";
import { defaultRouteLink } from "./host-forwarding.ts";
import { runTool, tryTool } from "./run-tool.ts";

/**
 * If the host's iptables drops forwarded traffic by policy, as container engines and ufw set it,
 * lets a Pod out by the default route and answers back in. The rules go to the end of the chain:
 * what an administrator forbids by a rule stays forbidden, and only the policy is overruled.
 */
export async function acceptForwarded(hostLink: string, cgroups: readonly string[]): Promise<void> {
  const chain = await forwardChain();
  const uplink = await defaultRouteLink();
  if (!chain.includes("-P FORWARD DROP") || uplink === undefined) return;
  for (const rule of [
    ["-i", hostLink, "-o", uplink],
    ["-i", uplink, "-o", hostLink, "-m", "conntrack", "--ctstate", "RELATED,ESTABLISHED"],
  ]) {
    await runTool("iptables", ["-w", "10", "-A", "FORWARD", ...rule, "-j", "ACCEPT"], { cgroups });
  }
}

/** Removes what {@link acceptForwarded} added, or any part of it. */
export async function withdrawForwarded(hostLink: string): Promise<void> {
  for (const line of await forwardChain()) {
    const words = line.split(" ");
    if (words[0] !== "-A" || !words.includes(hostLink)) continue;
    await runTool("iptables", ["-w", "10", "-D", ...words.slice(1)]);
  }
}

/** The chain's policy and rules as iptables writes them; none if the host does without iptables. */
async function forwardChain(): Promise<readonly string[]> {
  // Checked first: iptables itself would create its tables, or load a module, to answer.
  const isNft = (await tryTool("nft", ["list", "chain", "ip", "filter", "FORWARD"])).code === 0;
  // Not there where the kernel has no such tables.
  const legacy = await readFile("/proc/net/ip_tables_names", "utf8").catch(() => "");
  if (!isNft && !legacy.split("\n").includes("filter")) return [];
  const { stdout } = await tryTool("iptables", ["-w", "10", "-S", "FORWARD"]);
  return stdout.split("\n");
}
