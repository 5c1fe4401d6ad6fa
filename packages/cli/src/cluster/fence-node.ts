import { names as namesOf } from "@virtkit/api/names";
import { fencedBootOf, fenceTaint, isFence } from "@virtkit/api/proofs";
import { at, objects, text } from "@virtkit/api/shape";
import { conditionsOf, findCondition } from "@virtkit/api/status";
import {
  defineResource,
  isConflict,
  isKubeError,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type Resource,
} from "@virtkit/kube";
import { type Io, writeAll } from "../io.ts";
import { plain } from "../local/plain.ts";
import { heldGuests } from "./held-guests.ts";

const { groups } = namesOf();
const [group, version] = [groups.core, "v1"];
const nodes = defineResource({ version, plural: "nodes", kind: "Node", namespaced: false });
const vmis = defineResource({
  ...{ group, version, plural: "virtualmachineinstances", kind: "VirtualMachineInstance" },
});
const vms = defineResource({ group, version, plural: "virtualmachines", kind: "VirtualMachine" });

/** A node of a cluster that somebody has switched off. */
export interface FencedNode {
  readonly client: KubeClient;
  readonly node: string;
  /** The boot that is confirmed to be over; undefined: only show it. */
  readonly bootID?: string | undefined;
  /** The arguments that chose the cluster, for the command that is shown. */
  readonly cluster?: readonly string[];
}

/**
 * Marks a Node as out of service for one boot. Throws, without a change, if the Node does not exist, if its kubelet
 * reports, or if it is in another boot. Without a boot it shows what would be confirmed, and returns 1.
 */
export async function confirmFence(wish: FencedNode, io: Io): Promise<number> {
  const { client, node: name, bootID } = wish;
  const node = await readNode(wish);
  const ready = findCondition(conditionsOf(Object(node)), "Ready");
  // A kubelet that reports that it is not ready is alive, too: only silence makes the condition Unknown.
  if (ready?.status !== "Unknown") {
    const state = ready?.status === "True" ? "Ready" : "not Ready, but its kubelet still reports";
    throw new Error(
      `node ${name} is ${state}, so it is not off; switch it off, and try again about a minute later, when Kubernetes has noticed`,
    );
  }
  const found = text(at(node, "status", "nodeInfo", "bootID"));
  if (found === "" || text(at(node, "status", "nodeInfo", "machineID")) === "")
    throw new Error(
      `node ${name} does not report its machine ID and its boot ID, so a confirmation would prove nothing; bring its kubelet up once`,
    );
  if (bootID !== undefined && bootID !== found)
    throw new Error(
      `node ${name} is in boot ${found}, not ${bootID}: it has booted since; make sure that it is off, and run "virtkit fence confirm ${name}" to see what it holds now`,
    );
  const held = await guestsHeld(client, { node: name, bootID: found }, io);
  if (bootID === undefined) {
    await writeAll(io.stdout, preview(wish, { ready, bootID: found, held }));
    return 1;
  }
  const taints = objects(at(node, "spec", "taints"));
  if (taints.some((taint) => isFence(taint) && fencedBootOf(taint) === found)) {
    io.stderr.write(`Node ${name}: boot ${found} has already been confirmed to be over.\n`);
    return 0;
  }
  const others = taints.filter((taint) => !isFence(taint));
  await writeTaints(client, node, [...others, fenceTaint(found)]);
  io.stderr.write(
    `Node ${name}: boot ${found} is confirmed to be over. ${held.length > 0 ? `Can start elsewhere: ${held.join("; ")}.` : "No guest was held by it."}\nWhen the node is back, run: ${command("lift", wish)}\n`,
  );
  return 0;
}

/** Removes the out-of-service taint from a Node, no matter who set it. */
export async function liftFence(wish: Omit<FencedNode, "bootID">, io: Io): Promise<number> {
  const node = await readNode(wish);
  const taints = objects(at(node, "spec", "taints"));
  const others = taints.filter((taint) => !isFence(taint));
  if (others.length === taints.length) {
    io.stderr.write(`Node ${wish.node} is not marked as out of service.\n`);
    return 0;
  }
  await writeTaints(wish.client, node, others);
  io.stderr.write(`Node ${wish.node} is in service again.\n`);
  return 0;
}

async function readNode({ client, node: name }: Omit<FencedNode, "bootID">): Promise<KubeObject> {
  try {
    return await client.get(nodes, { name });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new Error(`node ${name} does not exist; "kubectl get nodes" lists the nodes`);
  }
}

/** Only if the Node is still as it was read: it may have come back in the meantime. */
async function writeTaints(
  client: KubeClient,
  { metadata }: KubeObject,
  taints: readonly object[],
): Promise<void> {
  const { name = "", uid, resourceVersion } = metadata;
  const body = { metadata: { uid, resourceVersion }, spec: { taints } };
  try {
    await client.patch(nodes, { name }, { type: "merge", body });
  } catch (error) {
    if (!isConflict(error)) throw error;
    throw new Error(`node ${name} changed at the same moment, and was not marked; try again`);
  }
}

/** A user who may mark a node may not always list guests: then they are left out, and that is reported. */
async function guestsHeld(
  client: KubeClient,
  boot: { readonly node: string; readonly bootID: string },
  { stderr }: Io,
): Promise<readonly string[]> {
  const all = async (resource: Resource): Promise<readonly KubeObject[]> => {
    try {
      return await listAll(client, resource);
    } catch (error) {
      if (!isKubeError(error) || error.status === undefined) throw error;
      stderr.write(`virtkit: ${resource.plural} cannot be listed: ${error.message}\n`);
      return [];
    }
  };
  return heldGuests({ vmis: await all(vmis), vms: await all(vms) }, boot);
}

async function listAll(client: KubeClient, resource: Resource): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  let next: string | undefined;
  do {
    const { items, metadata } = await client.list(resource, { limit: 500, continue: next });
    found.push(...items);
    next = metadata.continue || undefined;
  } while (next !== undefined);
  return found;
}

function preview(
  wish: FencedNode,
  {
    ready,
    bootID,
    held,
  }: {
    readonly ready: ReturnType<typeof findCondition>;
    readonly bootID: string;
    readonly held: readonly string[];
  },
): string {
  const why = text(ready?.message) || text(ready?.reason);
  const since = text(ready?.lastTransitionTime);
  return `Node ${wish.node} is not Ready${since && ` since ${plain(since)}`}${why && `: ${plain(why)}`}
Its last known boot is ${plain(bootID)}.
${held.length > 0 ? `Waiting for proof that this boot is over:\n${held.map((each) => `  ${each}`).join("\n")}` : "No guest waits for proof that this boot is over."}

Nothing was changed. A node that is not Ready may still run guests: if it is not off, confirming starts second
copies of them, which destroys their disks. Switch the node off and make sure that it is off. Then run:

  ${command("confirm", wish)} --boot-id ${plain(bootID)}
`;
}

function command(verb: "confirm" | "lift", { node, cluster = [] }: FencedNode): string {
  return ["virtkit fence", verb, node, ...cluster].join(" ");
}
