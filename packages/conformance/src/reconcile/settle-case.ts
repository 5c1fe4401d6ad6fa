import { at, text } from "@virtkit/api/shape";
import type { KubeObject } from "@virtkit/kube";
import { RecordedCluster } from "./recorded-cluster.ts";

/** Objects by kind, as in the `input.objects` of a case. */
export type RecordedObjects = Readonly<Record<string, readonly KubeObject[]>>;

/** One pass of a controller over a cluster at a time, in milliseconds since the epoch. */
export type Pass = (cluster: RecordedCluster, now: number) => Promise<void>;

/** What is there once a controller has nothing left to do. */
export interface Settled {
  readonly objects: RecordedObjects;
  /** The writes of the last pass of each stage, which should be none: `patch pods`. */
  readonly restless: readonly string[];
}

/** Passes before and after kubelets end the Pods that are in deletion; more than any case needs. */
const stage = 6;
const secondsBetween = 20;

/**
 * Repeats a pass over the objects of a case until nothing changes; then kubelets end the Pods that are in deletion, and it
 * is repeated again. Requests are refused, and caches are behind, only in the first pass.
 */
export async function settleCase(
  objects: RecordedObjects,
  context: unknown,
  pass: Pass,
): Promise<Settled> {
  const restless: string[] = [];
  let present = objects;
  const start = Date.parse(text(at(context, "now")));
  for (let i = 0; i < 2 * stage; i++) {
    const now = start + i * secondsBetween * 1000;
    const given = i === 0 ? { apiErrors: at(context, "apiErrors") } : {};
    const cluster = new RecordedCluster({ objects: present }, given);
    await pass(cluster, now);
    if (i % stage === stage - 1) {
      restless.push(...cluster.writes.map(({ write }) => `${write.kind} ${write.resource.plural}`));
    }
    present = objectsAfter(cluster, now, i >= stage - 1);
  }
  return { objects: present, restless };
}

/** The kinds that controllers create, as inputs name them. */
const createdKinds = [
  "controllerRevisions",
  "dataVolumes",
  "persistentVolumeClaims",
  "pods",
  "virtualMachineInstances",
];

function objectsAfter(
  cluster: RecordedCluster,
  now: number,
  hasKubelets: boolean,
): RecordedObjects {
  const time = new Date(now).toISOString();
  const after: Record<string, KubeObject[]> = {};
  for (const { plural, now: object, deleted } of cluster.stored()) {
    const left = deleted ? inDeletion(object, time) : object;
    const isEnding = plural === "pods" && left.metadata.deletionTimestamp !== undefined;
    add(after, plural, isEnding && hasKubelets ? endedPod(left) : left);
  }
  for (const { write, refused } of cluster.writes) {
    if (write.kind !== "create" || write.subresource !== undefined || refused) continue;
    const lower = write.resource.plural;
    const plural = createdKinds.find((each) => each.toLowerCase() === lower) ?? lower;
    const object = created(write.object, plural, { count: after[plural]?.length ?? 0, time });
    const isThere = after[plural]?.some(({ metadata }) => isSameName(metadata, object.metadata));
    if (!isThere) add(after, plural, object);
  }
  const isGone = (plural: string, object: KubeObject): boolean =>
    object.metadata.deletionTimestamp !== undefined &&
    !isHeld(object) &&
    (plural !== "pods" || hasKubelets);
  const left = Object.entries(after).map(([plural, list]): [string, KubeObject[]] => [
    plural,
    list.filter((object) => !isGone(plural, object)),
  ]);
  return Object.fromEntries(left);
}

function add(objects: Record<string, KubeObject[]>, plural: string, object: KubeObject): void {
  objects[plural] = [...(objects[plural] ?? []), object];
}

/** An object as the API server stores it. */
function created(
  object: KubeObject,
  plural: string,
  { count, time }: { readonly count: number; readonly time: string },
): KubeObject {
  const { generateName = "", ...metadata } = object.metadata;
  const name = text(metadata.name) || `${text(generateName)}${count}`;
  const uid = `created-${plural}-${name}`;
  return { ...object, metadata: { ...metadata, name, uid, creationTimestamp: time } };
}

function isSameName(a: KubeObject["metadata"], b: KubeObject["metadata"]): boolean {
  return a.name === b.name && a.namespace === b.namespace;
}

function isHeld({ metadata }: KubeObject): boolean {
  return (metadata.finalizers ?? []).length > 0;
}

function inDeletion(object: KubeObject, time: string): KubeObject {
  return { ...object, metadata: { deletionTimestamp: time, ...object.metadata } };
}

const completed = { exitCode: 0, reason: "Completed", finishedAt: "2026-01-01T00:00:00Z" };

/** A Pod as the kubelet leaves it when its containers have ended. */
export function endedPod(pod: KubeObject): KubeObject {
  const status = Object(at(pod, "status")) as object;
  if (text(at(pod, "spec", "nodeName")) === "") return pod;
  const phase = text(at(status, "phase"));
  const isOver = phase === "Succeeded" || phase === "Failed";
  const containerStatuses = [
    {
      name: "compute",
      ready: false,
      containerID: containerOf(pod),
      state: { terminated: { ...completed, containerID: containerOf(pod) } },
    },
  ];
  const ended = { ...status, phase: isOver ? phase : "Succeeded", containerStatuses };
  return { ...pod, status: ended } as KubeObject;
}

/** The ID of a Pod's container. */
export function containerOf({ metadata }: KubeObject): string {
  return `containerd://${text(metadata.uid)}`;
}
