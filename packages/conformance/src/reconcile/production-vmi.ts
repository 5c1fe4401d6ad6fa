import {
  type Claimed,
  encodeGrant,
  freeGrant,
  type Grant,
  grantAnnotation,
  type Holder,
  runMemoryCondition,
} from "@virtkit/api/grant";
import { names as kubevirtNames } from "@virtkit/api/names";
import { at, objects, text } from "@virtkit/api/shape";
import { isControllerError } from "@virtkit/controller/plan";
import {
  claimIndexes,
  migrationIndexes,
  podIndexes,
  type VmiCaches,
  type VmiPlanConfig,
  vmiReconciler,
  vmiSources,
} from "@virtkit/controller/vmi";
import type { KubeObject } from "@virtkit/kube";
import { vmiIdentifier } from "@virtkit/launcher-pod/traits";
import type { RecordedCluster } from "./recorded-cluster.ts";
import { recordedForm, withoutEmpty } from "./recorded-form.ts";
import { recordedReads, recordedSource } from "./recorded-source.ts";
import { containerOf, endedPod, type Pass, type RecordedObjects } from "./settle-case.ts";

const names = kubevirtNames();
const finalizer = names.own("proof-of-end");

/** What only production writes, or who writes it depends on the mode: the webhook, or the first pass. */
const marks = [
  names.own(grantAnnotation),
  names.annotations.latestObservedApiVersion,
  names.annotations.storageObservedApiVersion,
];

/** Passes over a VMI as the controllers make them: through caches, with a run grant, and with live reads. */
export function productionPass(key: string, config: VmiPlanConfig): Pass {
  const [namespace = "", name = ""] = key.split("/");
  return async (cluster, now) => {
    const caches = vmiCaches(cluster);
    const client = recordedReads(cluster);
    const sources = vmiSources({ caches, client, names, isBehind: () => false });
    const wall = (): Date => new Date(now);
    const runner = { target: cluster, record: () => undefined };
    const reconcile = vmiReconciler({ ...runner, sources, config: () => config, wall });
    await reconcile({ namespace, name }).catch((error: unknown) => {
      // A pass that could not do everything is repeated.
      if (!isControllerError(error)) throw error;
    });
  };
}

function vmiCaches(cluster: RecordedCluster): VmiCaches {
  const source = <T>(plural: string) => recordedSource<T>(cluster, plural);
  return {
    vmis: source("virtualMachineInstances"),
    vms: source("virtualMachines"),
    pods: recordedSource(cluster, "pods", podIndexes),
    claims: recordedSource(cluster, "persistentVolumeClaims", claimIndexes),
    migrations: recordedSource(cluster, "virtualMachineInstanceMigrations", migrationIndexes),
    nodes: source("nodes"),
    namespaces: source("namespaces"),
    configMaps: source("configMaps"),
    resourceQuotas: source("resourceQuotas"),
    storageClasses: source("storageClasses"),
    networkAttachmentDefinitions: source("networkAttachmentDefinitions"),
    dataVolumes: source("dataVolumes"),
    storageProfiles: source("storageProfiles"),
    cdis: source("cdis"),
    cdiConfigs: source("cdiConfigs"),
  };
}

/** The objects of a case as kubelets and containers leave them: with container IDs, reports of ends, and nodes. */
export function withKubelets(given: RecordedObjects): RecordedObjects {
  const pods = (given["pods"] ?? []).map(reported);
  const nodes = [...(given["nodes"] ?? [])];
  for (const pod of pods) {
    const name = text(at(pod, "spec", "nodeName"));
    if (name !== "" && !nodes.some(({ metadata }) => metadata.name === name))
      nodes.push(node(name));
  }
  return { ...given, pods, nodes };
}

function node(name: string): KubeObject {
  const status = {
    conditions: [{ type: "Ready", status: "True" }],
    nodeInfo: { machineID: `machine-${name}`, bootID: `boot-${name}` },
  };
  return { apiVersion: "v1", kind: "Node", metadata: { name, uid: name }, status } as KubeObject;
}

function reported(pod: KubeObject): KubeObject {
  const phase = text(at(pod, "status", "phase"));
  if (phase === "Succeeded" || phase === "Failed") return endedPod(pod);
  const containerStatuses = objects(at(pod, "status", "containerStatuses")).map((each) =>
    each["name"] === "compute" ? { ...each, containerID: containerOf(pod) } : each,
  );
  if (containerStatuses.length === 0) return pod;
  return { ...pod, status: { ...Object(at(pod, "status")), containerStatuses } } as KubeObject;
}

/** The objects with what the platform's own parts add: run grants, and the label and finalizer of launchers. */
export function withGrants(given: RecordedObjects): RecordedObjects {
  const pods = given["pods"] ?? [];
  return {
    ...given,
    pods: pods.map(held),
    virtualMachineInstances: (given["virtualMachineInstances"] ?? []).map((vmi) =>
      granted(vmi, pods),
    ),
  };
}

function ownerOf({
  metadata,
}: KubeObject): { kind: string; name: string; uid: string } | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

function held(pod: KubeObject): KubeObject {
  const owner = ownerOf(pod);
  if (owner?.kind !== "VirtualMachineInstance") return pod;
  const { labels, finalizers = [] } = pod.metadata;
  const id = vmiIdentifier(owner.name);
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { ...labels, [names.labels.vmiId]: id },
      finalizers: [...finalizers, finalizer],
    },
  };
}

function granted(vmi: KubeObject, pods: readonly KubeObject[]): KubeObject {
  const { annotations, uid = "" } = vmi.metadata;
  const value = encodeGrant(grantOf(vmi, uid, pods));
  const all = { ...annotations, [names.own(grantAnnotation)]: value };
  return { ...vmi, metadata: { ...vmi.metadata, annotations: all } };
}

/** The grant that a VMI would have in its phase. */
function grantOf(vmi: KubeObject, vmiUID: string, pods: readonly KubeObject[]): Grant {
  const phase = text(at(vmi, "status", "phase"));
  const nodeName = text(at(vmi, "status", "nodeName"));
  const [pod] = pods
    .filter((each) => ownerOf(each)?.uid === vmiUID)
    .filter((each) => nodeName === "" || text(at(each, "spec", "nodeName")) === nodeName)
    .sort((a, b) =>
      text(a.metadata.creationTimestamp) > text(b.metadata.creationTimestamp) ? -1 : 1,
    );
  const counted = { vmiUID, epoch: 1, seq: 1 };
  if (["", "Pending", "WaitingForSync", "Scheduling"].includes(phase)) return freeGrant;
  const hasStarted = objects(at(pod, "status", "containerStatuses")).length > 0;
  if (pod && (phase === "Scheduled" || !hasStarted)) {
    return { ...counted, state: "Granted", podUID: text(pod.metadata.uid) };
  }
  const isOver = phase === "Succeeded" || phase === "Failed";
  if (isOver && !pod) return { ...counted, seq: 2, state: "Ended" };
  return { ...counted, seq: 2, state: "Claimed", holder: holder(pod, nodeName) } satisfies Claimed;
}

function holder(pod: KubeObject | undefined, nodeName: string): Holder {
  const name = pod ? text(at(pod, "spec", "nodeName")) : nodeName;
  return {
    podUID: pod ? text(pod.metadata.uid) : "pod-that-is-gone",
    containerID: pod ? containerOf(pod) : "containerd://pod-that-is-gone",
    node: name,
    machineID: `machine-${name}`,
    bootID: `boot-${name}`,
    nonce: "n1",
  };
}

/**
 * Objects without what only production has, in a form that can be compared: names of created objects are numbers, and
 * times are left out.
 */
export function comparable(found: RecordedObjects): unknown {
  const kept = Object.entries(found).filter(([plural]) => plural !== "nodes");
  const entries = kept.flatMap(([plural, list]) =>
    list.map((object): [string, unknown] => [`${plural}/${object.metadata.name}`, plain(object)]),
  );
  let text = JSON.stringify(Object.fromEntries(entries));
  for (const [plural, list] of kept) {
    const created = list.filter(({ metadata }) => metadata.uid?.startsWith("created-"));
    for (const [i, { metadata }] of created.entries()) {
      text = text.replaceAll(`"${metadata.uid}"`, `"uid-${plural}-${i}"`);
      text = text.replaceAll(`"${metadata.name}"`, `"${plural}-${i}"`);
      text = text.replaceAll(`"${plural}/${metadata.name}"`, `"${plural}/${i}"`);
    }
  }
  return withoutEmpty(recordedForm(JSON.parse(text)));
}

function plain(object: KubeObject): unknown {
  const { metadata } = object;
  const annotations = without(metadata.annotations, marks);
  const labels = without(metadata.labels, [names.labels.vmiId]);
  const isNew = metadata.uid?.startsWith("created-") === true;
  const finalizers = metadata.finalizers?.filter(
    (each) => each !== finalizer && !(isNew && each === names.finalizers.vmi),
  );
  const { resourceVersion: _, generateName: __, ...rest } = metadata;
  const kept = { ...object, metadata: { ...rest, annotations, labels, finalizers } };
  const status = at(object, "status");
  if (status === undefined) return kept;
  // Which phases are seen depends on how changes are packed into writes.
  const { phaseTransitionTimestamps: ___, ...told } = Object(status) as Record<string, unknown>;
  const conditions = objects(told["conditions"]).filter(
    ({ type, status: value }) =>
      type !== names.own(runMemoryCondition) &&
      !(isWaiting(object) && type === names.podConditions.unpaused && value === "True"),
  );
  return { ...kept, status: { ...told, conditions } };
}

/** Whether a Pod does not run yet: its readiness gate opens with the next write. */
function isWaiting(object: KubeObject): boolean {
  return object.kind === "Pod" && text(at(object, "status", "phase")) !== "Running";
}

function without(
  map: Readonly<Record<string, string>> | undefined,
  keys: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => !keys.includes(key)));
}
