import type { Clock } from "@virtkit/api/clock";
import { isConflict, isKubeError, isNotFound, type KubeClient } from "@virtkit/kube";
import { leases, nodes, pods, type SimulatedNode, type SimulatedPod } from "./core-resources.ts";

/** Options of {@link watchNodes}. */
export interface NodeLifecycleOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly date: () => Date;
  readonly signal: AbortSignal;
  /** For how long a node may be silent. By default 40 s. */
  readonly gracePeriod?: number;
  /** After how long its Pods are deleted if they do not say. By default 300 s. */
  readonly tolerance?: number;
}

const unreachable = "node.kubernetes.io/unreachable";

/**
 * Does what the node lifecycle controller does: a node that is silent becomes `Unknown` and is tainted, its
 * Pods are no longer ready, and later they are deleted. Their phases stay as they were: nobody knows better.
 */
export function watchNodes(options: NodeLifecycleOptions): void {
  const { clock, signal } = options;
  const beats = new Map<string, Beat>();
  const look = (): void => {
    if (signal.aborted) return;
    void lookOnce(options, beats)
      .catch((error: unknown) => {
        if (!isKubeError(error)) throw error;
      })
      .finally(() => clock.setTimeout(look, 5000));
  };
  clock.setTimeout(look, 5000);
}

/** A heartbeat of a node, and when it was first seen: the node's own date may be wrong. */
interface Beat {
  readonly renewTime: string;
  readonly seenAt: number;
}

async function lookOnce(
  { client, clock, date, gracePeriod = 40_000, tolerance = 300_000 }: NodeLifecycleOptions,
  beats: Map<string, Beat>,
): Promise<void> {
  const now = clock.now();
  const renewed = await client.list(leases, { namespace: "kube-node-lease" });
  const all = await client.list(nodes);
  for (const node of all.items) {
    const { name = "" } = node.metadata;
    const lease = renewed.items.find(({ metadata }) => metadata.name === name);
    const renewTime = String(lease?.spec?.["renewTime"]);
    const known = beats.get(name);
    const beat = known?.renewTime === renewTime ? known : { renewTime, seenAt: now };
    beats.set(name, beat);
    const silent = now - beat.seenAt;
    if (silent <= gracePeriod) await untaint(client, node);
    else await giveUp(client, node, date());
    if (silent > gracePeriod + tolerance) await deletePods(client, name);
  }
}

/** Marks a silent node, once. */
async function giveUp(client: KubeClient, node: SimulatedNode, now: Date): Promise<void> {
  const { name = "" } = node.metadata;
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status === "Unknown" && isTainted(node)) return;
  const lastTransitionTime = now.toISOString().replace(/\.\d+Z$/, "Z");
  const condition = {
    type: "Ready",
    status: "Unknown",
    reason: "NodeStatusUnknown",
    lastTransitionTime,
  };
  await patchStatus(client, node, condition);
  const taints = [
    ...(node.spec?.taints ?? []).filter(({ key }) => key !== unreachable),
    ...["NoSchedule", "NoExecute"].map((effect) => ({ key: unreachable, effect })),
  ];
  await client.patch(nodes, { name }, { type: "merge", body: { spec: { taints } } });
  for (const pod of await podsOf(client, name)) {
    const { namespace, name: podName = "" } = pod.metadata;
    const conditions = (pod.status?.conditions ?? []).map((each) =>
      each.type === "Ready" ? { ...each, status: "False", lastTransitionTime } : each,
    );
    const at = { ...(namespace ? { namespace } : {}), name: podName };
    const patch = { type: "merge", body: { status: { conditions } } } as const;
    await client.patch(pods, at, patch, { subresource: "status" }).catch(overtaken);
  }
}

async function untaint(client: KubeClient, node: SimulatedNode): Promise<void> {
  if (!isTainted(node)) return;
  const { name = "" } = node.metadata;
  const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== unreachable);
  await client.patch(nodes, { name }, { type: "merge", body: { spec: { taints } } });
}

function isTainted({ spec }: SimulatedNode): boolean {
  return (spec?.taints ?? []).some(({ key }) => key === unreachable);
}

async function patchStatus(
  client: KubeClient,
  node: SimulatedNode,
  condition: object,
): Promise<void> {
  const { name = "" } = node.metadata;
  const patch = { type: "strategic", body: { status: { conditions: [condition] } } } as const;
  await client.patch(nodes, { name }, patch, { subresource: "status" });
}

async function deletePods(client: KubeClient, node: string): Promise<void> {
  for (const { metadata } of await podsOf(client, node)) {
    if (metadata.deletionTimestamp) continue;
    const { namespace, name = "", uid } = metadata;
    const at = { ...(namespace ? { namespace } : {}), name };
    await client.delete(pods, at, { preconditions: { uid } }).catch(overtaken);
  }
}

async function podsOf(client: KubeClient, node: string): Promise<readonly SimulatedPod[]> {
  return (await client.list(pods, { fieldSelector: `spec.nodeName=${node}` })).items;
}

/** Somebody else changed or removed it: the next look sees that. */
function overtaken(error: unknown): void {
  if (!isConflict(error) && !isNotFound(error)) throw error;
}
