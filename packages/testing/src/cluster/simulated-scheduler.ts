import type { Clock } from "@virtkit/api/clock";
import type { Random } from "@virtkit/api/random";
import {
  isConflict,
  isKubeError,
  isNotFound,
  type KubeClient,
  type KubeObject,
} from "@virtkit/kube";
import { Cache } from "@virtkit/kube/cache";
import { Reflector } from "@virtkit/kube/reflector";
import { nodes, pods, type SimulatedNode, type SimulatedPod } from "./core-resources.ts";
import { countedRequests, misfit } from "./node-fit.ts";

/** Options of {@link runScheduler}. */
export interface SchedulerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly name?: string;
}

/** Gives Pods to nodes as kube-scheduler does: what fits by labels, taints, affinity and devices, fewest Pods first. */
export async function runScheduler(options: SchedulerOptions): Promise<void> {
  const { client, clock, random, signal, name = "default-scheduler" } = options;
  const podCache = new Cache(pods);
  const nodeCache = new Cache(nodes);
  let queued = false;
  const look = () => {
    if (queued) return;
    queued = true;
    clock.setTimeout(() => {
      queued = false;
      if (signal.aborted) return;
      if (podCache.hasSynced && nodeCache.hasSynced) void scheduleOnce().catch(retry);
      else look();
    }, 10);
  };
  const retry = (error: unknown) => {
    if (!isKubeError(error)) throw error;
    clock.setTimeout(look, 1000);
  };
  const scheduleOnce = async (): Promise<void> => {
    const all = objectsOf(podCache);
    const waiting = all.filter(
      ({ spec, metadata }) =>
        !spec?.nodeName && !metadata.deletionTimestamp && (spec?.schedulerName ?? name) === name,
    );
    for (const pod of waiting) {
      const found = choose(pod, objectsOf(nodeCache), objectsOf(podCache));
      if ("node" in found) await bind(client, pod, found.node);
      else await reportUnschedulable(client, pod, found.reason);
    }
  };
  podCache.subscribe(look);
  nodeCache.subscribe(look);
  await Promise.all([
    podCache.follow(new Reflector(client, pods, { clock, random, signal })),
    nodeCache.follow(new Reflector(client, nodes, { clock, random, signal })),
  ]);
}

function objectsOf<T extends KubeObject>(cache: Cache<T>): readonly T[] {
  const listing = cache.list();
  return listing.state === "complete" ? listing.objects : listing.seen;
}

function choose(
  pod: SimulatedPod,
  all: readonly SimulatedNode[],
  others: readonly SimulatedPod[],
): { readonly node: string } | { readonly reason: string } {
  const reasons: string[] = [];
  const fitting = all.filter((node) => {
    const reason = misfit(pod, node) ?? shortage(pod, node, others);
    if (reason) reasons.push(reason);
    return reason === undefined;
  });
  const load = (name: string | undefined) =>
    others.filter(({ spec }) => spec?.nodeName === name).length;
  const [best] = fitting.toSorted(
    (one, other) => load(one.metadata.name) - load(other.metadata.name),
  );
  if (best?.metadata.name) return { node: best.metadata.name };
  return { reason: `0/${all.length} nodes are available: ${[...new Set(reasons)].join(", ")}.` };
}

function shortage(
  pod: SimulatedPod,
  node: SimulatedNode,
  others: readonly SimulatedPod[],
): string | undefined {
  const there = others.filter(
    ({ spec, status }) =>
      spec?.nodeName === node.metadata.name &&
      status?.phase !== "Succeeded" &&
      status?.phase !== "Failed",
  );
  for (const [name, wanted] of countedRequests(pod)) {
    const used = there.reduce((sum, each) => sum + (countedRequests(each).get(name) ?? 0), 0);
    if (used + wanted > Number(node.status?.allocatable?.[name] ?? 0))
      return `Insufficient ${name}`;
  }
  return undefined;
}

async function bind(client: KubeClient, pod: SimulatedPod, node: string): Promise<void> {
  const { namespace, name, uid } = pod.metadata;
  const target = { apiVersion: "v1", kind: "Node", name: node };
  const metadata = {
    ...(namespace ? { namespace } : {}),
    ...(name ? { name } : {}),
    ...(uid ? { uid } : {}),
  };
  const binding = { apiVersion: "v1", kind: "Binding", metadata, target };
  await client
    .create(pods, binding as unknown as SimulatedPod, { subresource: "binding" })
    .catch(lost);
}

/** What was overtaken is looked at again with the next change. */
function lost(error: unknown): void {
  if (!isConflict(error) && !isNotFound(error)) throw error;
}

async function reportUnschedulable(
  client: KubeClient,
  pod: SimulatedPod,
  message: string,
): Promise<void> {
  const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message };
  const known = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (known?.status === "False" && known.message === message) return;
  const { namespace, name = "" } = pod.metadata;
  const at = { ...(namespace ? { namespace } : {}), name };
  const body = { status: { conditions: [condition] } };
  await client.patch(pods, at, { type: "strategic", body }, { subresource: "status" }).catch(lost);
}
