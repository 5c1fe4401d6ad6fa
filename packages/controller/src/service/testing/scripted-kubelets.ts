import { text } from "@virtkit/api/shape";
import { isConflict, isNotFound, type KubeClient, type KubeObject } from "@virtkit/kube";
import { Cache } from "@virtkit/kube/cache";
import { createController, watch } from "@virtkit/kube/controller";
import { nodeResource, podResource } from "../../plan/resources.ts";

/** The parts of a Pod that a scheduler and a kubelet read. */
interface Pod extends KubeObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly readinessGates?: readonly { readonly conditionType: string }[];
    readonly containers: readonly { readonly name: string; readonly image?: string }[];
    readonly initContainers?: readonly { readonly name: string; readonly image?: string }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly {
      readonly state?: { readonly running?: object; readonly terminated?: object };
    }[];
  };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** Options of {@link runScriptedKubelets}. */
export interface ScriptedKubeletsOptions {
  readonly client: KubeClient;
  /** The nodes to create. */
  readonly nodes: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** A Pod that requires this label finds no node. */
export const nowhere = "example.com/nowhere";
/** An image with this in its name cannot be pulled. */
export const missingImage = "missing.example";

/**
 * Scheduler and kubelets of all nodes as one script, for any API server: Pods run as soon as they
 * are bound, become ready as usual, and end when they are deleted.
 */
export async function runScriptedKubelets(options: ScriptedKubeletsOptions): Promise<void> {
  const { client, nodes, signal } = options;
  await Promise.all(nodes.map((node) => registerNode(options, node)));
  const pods = new Cache<Pod>(podResource as never);
  let next = 0;

  const nextNode = (): string => nodes[next++ % nodes.length] ?? "";

  await createController({
    name: "kubelets",
    client,
    concurrency: 10,
    watches: [watch(pods)],
    async reconcile(name) {
      const found = pods.get(name);
      if (found.state !== "present") return;
      await carryOut(client, found.object, stepOf(found.object, nextNode)).catch(
        (error: unknown) => {
          // The next event shows what has changed meanwhile.
          if (!isConflict(error) && !isNotFound(error)) throw error;
        },
      );
    },
  }).run({ signal });
}

/** Lets the containers of a Pod end on their own, as when a guest shuts down from inside. */
export async function endPod(client: KubeClient, pod: KubeObject): Promise<void> {
  await carryOut(client, pod as Pod, { kind: "report", status: endedStatus(pod as Pod) });
}

/** What a scheduler or a kubelet does next with a Pod. */
type Step =
  | { readonly kind: "report"; readonly status: object }
  | { readonly kind: "bind"; readonly node: string }
  | { readonly kind: "remove" }
  | undefined;

function stepOf(pod: Pod, nextNode: () => string): Step {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  if (!pod.spec.nodeName) return deletionTimestamp ? { kind: "remove" } : scheduling(pod, nextNode);
  if (deletionTimestamp && !hasEnded(pod)) return { kind: "report", status: endedStatus(pod) };
  if (deletionTimestamp) return deletionGracePeriodSeconds === 0 ? undefined : { kind: "remove" };
  if (hasEnded(pod)) return undefined;
  const isMissing = pod.spec.containers.some(({ image }) => image?.includes(missingImage));
  const status = isMissing ? waitingStatus(pod) : runningStatus(pod);
  return says(pod, status) ? undefined : { kind: "report", status };
}

function scheduling(pod: Pod, nextNode: () => string): Step {
  if (pod.spec.nodeSelector?.[nowhere] === undefined) return { kind: "bind", node: nextNode() };
  const isSaid = conditionOf(pod, "PodScheduled")?.status === "False";
  return isSaid ? undefined : { kind: "report", status: unschedulable(pod) };
}

async function carryOut(client: KubeClient, pod: Pod, step: Step): Promise<void> {
  const { namespace = "", name = "", uid = "" } = pod.metadata;
  const at = { namespace, name };
  switch (step?.kind) {
    case "report": {
      const body = { metadata: { uid }, status: step.status };
      await client.patch(podResource, at, { type: "merge", body }, { subresource: "status" });
      return;
    }
    case "bind": {
      const target = { kind: "Node", name: step.node };
      const binding = { metadata: { ...at, uid }, target } as KubeObject;
      await client.create(podResource, binding, { subresource: "binding" });
      return;
    }
    case "remove":
      await client.delete(podResource, at, { gracePeriodSeconds: 0, preconditions: { uid } });
      return;
    default:
      return;
  }
}

async function registerNode(
  { client, labels }: ScriptedKubeletsOptions,
  name: string,
): Promise<void> {
  await client.create(nodeResource, { metadata: { name, labels } });
  const amounts = { cpu: "1000", memory: "4000Gi", pods: "10000" };
  const status = {
    capacity: amounts,
    allocatable: amounts,
    nodeInfo: { machineID: `machine-${name}`, bootID: `boot-${name}` },
    conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }],
  };
  const body = { status };
  await client.patch(nodeResource, { name }, { type: "merge", body }, { subresource: "status" });
}

function conditionOf({ status }: Pod, type: string): Condition | undefined {
  return status?.conditions?.find((each) => each.type === type);
}

function hasEnded({ status }: Pod): boolean {
  const all = status?.containerStatuses ?? [];
  return all.length > 0 && all.every(({ state }) => state?.terminated !== undefined);
}

/** The conditions of a Pod with some of the kubelet's own; the others are kept. */
function withConditions(pod: Pod, own: readonly Condition[]): readonly Condition[] {
  const others = (pod.status?.conditions ?? []).filter(
    ({ type }) => !own.some((each) => each.type === type),
  );
  return [...others, ...own];
}

function unschedulable(pod: Pod): object {
  const message = `0/1 nodes are available: node(s) didn't match ${nowhere}.`;
  const own = { type: "PodScheduled", status: "False", reason: "Unschedulable", message };
  return { conditions: withConditions(pod, [own]) };
}

function runningStatus(pod: Pod): NonNullable<Pod["status"]> {
  const gates = pod.spec.readinessGates ?? [];
  const isReady = gates.every(
    ({ conditionType }) => conditionOf(pod, conditionType)?.status === "True",
  );
  return {
    ...{ phase: "Running", podIP: "10.0.0.1" },
    conditions: withConditions(pod, [
      { type: "PodScheduled", status: "True" },
      { type: "ContainersReady", status: "True" },
      { type: "Ready", status: isReady ? "True" : "False" },
    ]),
    containerStatuses: pod.spec.containers.map((each) => ({
      ...containerOf(pod, each),
      ready: true,
      state: { running: { startedAt: timestamp() } },
    })),
  };
}

function waitingStatus(pod: Pod): NonNullable<Pod["status"]> {
  const message = `${missingImage} does not answer`;
  return {
    phase: "Pending",
    conditions: withConditions(pod, [{ type: "PodScheduled", status: "True" }]),
    containerStatuses: pod.spec.containers.map((each) => ({
      ...{ name: each.name, image: text(each.image), imageID: "", ready: false, restartCount: 0 },
      state: { waiting: { reason: "ErrImagePull", message } },
    })),
  } as NonNullable<Pod["status"]>;
}

function endedStatus(pod: Pod): object {
  return {
    phase: "Succeeded",
    containerStatuses: pod.spec.containers.map((each) => {
      const { containerID, ...rest } = containerOf(pod, each);
      const terminated = { exitCode: 0, reason: "Completed", finishedAt: timestamp(), containerID };
      return { ...rest, containerID, ready: false, state: { terminated } };
    }),
  };
}

function containerOf(
  pod: Pod,
  { name, image }: { readonly name: string; readonly image?: string },
) {
  const containerID = `containerd://${pod.metadata.uid}-${name}`;
  return { name, image: text(image), imageID: text(image), containerID, restartCount: 0 };
}

/** Whether the Pod shows this already. A script only changes phase and readiness. */
function says(pod: Pod, status: NonNullable<Pod["status"]>): boolean {
  const wanted = status.conditions?.find(({ type }) => type === "Ready");
  return (
    pod.status?.phase === status.phase &&
    (pod.status?.containerStatuses ?? []).length > 0 &&
    (!wanted || conditionOf(pod, "Ready")?.status === wanted.status)
  );
}

function timestamp(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, "Z");
}
