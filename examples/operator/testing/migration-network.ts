import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Cluster } from "@virtkit/lab/cluster";
import { processOf } from "./qemu-of-guest.ts";

/** The network that node agents prefer for migrations. Disposing of it removes it. */
export interface MigrationNetwork extends AsyncDisposable {
  /** The address of the agent on each node. */
  readonly addresses: ReadonlyMap<string, string>;
}

/** KubeVirt's name of the interface in the agents' Pods. */
const name = "migration0";

/**
 * Connects the Pods of the agents on two nodes with each other, as Multus does for a NetworkAttachmentDefinition: each gets an
 * interface for migrations and an address.
 */
export async function addMigrationNetwork(cluster: Cluster): Promise<MigrationNetwork> {
  const selector = encodeURIComponent("kubevirt.io=virt-handler");
  const path = `/api/v1/namespaces/kubevirt/pods?labelSelector=${selector}`;
  const { items } = (await cluster.request(path)).body as { readonly items: readonly SeenPod[] };
  const agents = cluster.nodes.map((node) => {
    const pod = items.find(({ spec }) => spec.nodeName === node);
    const pid = pod && processOf(pod.metadata.uid, "virt-handler");
    if (pid === undefined) throw new Error(`${node} has no virt-handler`);
    return { node, pid };
  });
  const [one, two, ...others] = agents;
  if (!one || !two || others.length > 0) {
    throw new Error(`found ${agents.length} nodes; a veth connects two`);
  }
  const ends = ["type", "veth", "peer", "name", name, "netns", `${two.pid}`];
  await run("ip", "link", "add", name, "netns", `${one.pid}`, ...ends);
  const addresses = new Map<string, string>();
  for (const [index, { node, pid }] of agents.entries()) {
    const address = `172.31.255.${index + 1}`;
    const ip = ["-t", `${pid}`, "-n", "ip"];
    await run("nsenter", ...ip, "address", "add", `${address}/24`, "dev", name);
    await run("nsenter", ...ip, "link", "set", name, "up");
    addresses.set(node, address);
  }
  return {
    addresses,
    async [Symbol.asyncDispose]() {
      // Its other end goes with it.
      await run("nsenter", "-t", `${one.pid}`, "-n", "ip", "link", "delete", name);
    },
  };
}

async function run(program: string, ...args: readonly string[]): Promise<void> {
  await promisify(execFile)(program, args, { timeout: 10_000 });
}

interface SeenPod {
  readonly metadata: { readonly uid: string };
  readonly spec: { readonly nodeName?: string };
}
