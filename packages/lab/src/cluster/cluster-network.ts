import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { runProgram } from "../run-program.ts";
import type { ClusterLayout, NodeLayout } from "./cluster-layout.ts";

/** Whom a node can be cut off from. */
export type CutFrom = "api" | "peers";

/** Creates the nodes' bridge. Fails if another cluster has these addresses. */
export async function makeBridge({ bridge, hostAddress }: ClusterLayout): Promise<void> {
  await runProgram("ip", ["link", "add", bridge, "type", "bridge"]);
  await ipBatch([`address add ${hostAddress}/24 dev ${bridge}`, `link set ${bridge} up`]);
}

/**
 * Removes the bridge, and with it this host's routes to Pods, and the nodes' links: the kernel
 * keeps the links of an abandoned network namespace until it gets around to removing it.
 */
export async function removeBridge({ bridge }: Pick<ClusterLayout, "bridge">): Promise<void> {
  const links = (await readdir("/sys/class/net")).filter((name) => name.startsWith(`${bridge}n`));
  for (const link of [...links, bridge]) await removeLink(link);
}

/** Takes the link of a node that is off. */
export async function disconnectNode({ link }: NodeLayout): Promise<void> {
  await removeLink(link);
}

async function removeLink(link: string): Promise<void> {
  try {
    await runProgram("ip", ["link", "delete", link]);
  } catch (error) {
    // Gone already, or while it was asked for.
    if (existsSync(`/sys/class/net/${link}`)) throw error;
  }
}

/** Gives a node its link to the bridge, and everyone the route to its Pods. */
export async function connectNode(
  cluster: ClusterLayout,
  node: NodeLayout,
  pid: number,
): Promise<void> {
  const { bridge, hostAddress, serviceNetwork } = cluster;
  const { link, address, podNetwork } = node;
  await ipBatch([
    `link add ${link} type veth peer name eth0 netns ${pid}`,
    `link set ${link} master ${bridge} up`,
    `route replace ${podNetwork} via ${address} dev ${bridge}`,
  ]);
  const peers = cluster.nodes.filter(({ name }) => name !== node.name);
  const inside = [
    `address add ${address}/24 dev eth0`,
    "link set eth0 up",
    // A Service's address is replaced on output, and without a route there is no output. There is
    // no other route: nothing leaves the cluster.
    `route add ${serviceNetwork} via ${hostAddress}`,
    ...peers.map((peer) => `route add ${peer.podNetwork} via ${peer.address}`),
  ];
  await ipBatch(inside, pid);
  const settings = ["net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"];
  await runProgram("nsenter", [`--net=/proc/${pid}/ns/net`, "sysctl", "-qw", ...settings]);
}

/** Drops what a node and the other side send each other, including packets in flight. */
export async function cutNode(
  cluster: ClusterLayout,
  node: NodeLayout,
  from: CutFrom,
  pid: number,
): Promise<void> {
  await nft(pid, cutRules(cluster, node, from));
}

/** Undoes {@link cutNode}. */
export async function healNode(pid: number): Promise<void> {
  await nft(
    pid,
    ["api", "peers"].flatMap((from) => removeTable(tableOf(from as CutFrom))).join(""),
  );
}

/**
 * The rules that cut off a node. Of this host only the API server is cut off, not clients that look
 * at Pods.
 */
export function cutRules(cluster: ClusterLayout, node: NodeLayout, from: CutFrom): string {
  const peers = cluster.nodes.filter(({ name }) => name !== node.name);
  const networks = peers.flatMap(({ address, podNetwork }) => [address, podNetwork]).join(", ");
  const { hostAddress, apiPort } = cluster;
  const drops =
    from === "api"
      ? [
          `ip daddr ${hostAddress} tcp dport ${apiPort} drop`,
          `ip saddr ${hostAddress} tcp sport ${apiPort} drop`,
          `ip saddr ${hostAddress} tcp dport 10250 drop`,
          `ip daddr ${hostAddress} tcp sport 10250 drop`,
        ]
      : [`ip daddr { ${networks} } drop`, `ip saddr { ${networks} } drop`];
  const chains = ["input", "output", "forward"].map(
    (hook) => `chain ${hook} { type filter hook ${hook} priority -10; ${drops.join("; ")}; }`,
  );
  const table = tableOf(from);
  return `${removeTable(table)}table ip ${table} {\n${chains.join("\n")}\n}\n`;
}

function tableOf(from: CutFrom): string {
  return `virtkit_cut_${from}`;
}

/** To remove a table that may not exist, it is created first. */
function removeTable(table: string): string {
  return `table ip ${table} {}\ndelete table ip ${table}\n`;
}

async function nft(pid: number, rules: string): Promise<void> {
  await runProgram("nsenter", [`--net=/proc/${pid}/ns/net`, "nft", "-f", "-"], { input: rules });
}

async function ipBatch(lines: readonly string[], pid?: number): Promise<void> {
  const enter = pid === undefined ? [] : ["nsenter", `--net=/proc/${pid}/ns/net`];
  const [program = "", ...args] = [...enter, "ip", "-batch", "-"];
  await runProgram(program, args, { input: `${lines.join("\n")}\n` });
}
