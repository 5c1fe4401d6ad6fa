import { evictionDecision } from "@virtkit/api/admission";
import type { ClusterConfig } from "@virtkit/api/config";
import type { Names } from "@virtkit/api/names";
import type {
  ObjectMeta,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from "@virtkit/api/schema";
import { conditionsOf, hasCondition } from "@virtkit/api/status";
import { guardVmi } from "./guard-vmi.ts";
import { readList } from "./read-list.ts";

/** A node, with the parts that evacuation uses. */
export interface EvacuatedNode {
  readonly metadata?: ObjectMeta;
  readonly spec?: { readonly taints?: readonly { key?: string; effect?: string }[] };
}

/** A Pod, with the parts that evacuation uses. */
export interface EvacuatedPod {
  readonly metadata?: ObjectMeta;
  readonly status?: { readonly phase?: string };
}

/** What the cluster contains. */
export interface EvacuationScene {
  readonly node: EvacuatedNode;
  readonly vmis: readonly VirtualMachineInstance[];
  readonly migrations: readonly VirtualMachineInstanceMigration[];
  readonly pods: readonly EvacuatedPod[];
}

/** What to do to empty a node. */
export interface EvacuationPlan {
  /** VMIs that get a migration, each with its migration. */
  readonly evacuations: readonly {
    readonly vmi: VirtualMachineInstance;
    readonly migration: VirtualMachineInstanceMigration;
  }[];
  /** VMIs that should move but cannot. */
  readonly stuck: readonly VirtualMachineInstance[];
}

/**
 * Decides which VMIs of a node get a migration. With the drain taint on the node: all of them; otherwise
 * those that an eviction has marked and that are neither gone nor already moving. `now` is in milliseconds
 * since the epoch. Takes time in proportion to what is in the scene.
 *
 * Throws a `MigrationError` with the `path` of the first part of the scene that has another shape:
 * to leave one out could move a VMI twice.
 */
export function planEvacuation(
  scene: EvacuationScene,
  config: ClusterConfig,
  now: number,
): EvacuationPlan {
  const node = scene.node?.metadata?.name ?? "";
  const drained = isDrained(scene.node, config.migrations.nodeDrainTaintKey);
  const moving = new Set(
    readList(scene.migrations, "migrations")
      .filter(isUnfinished)
      .map(({ metadata, spec }) => `${metadata?.namespace}/${spec?.vmiName}`),
  );
  const pods = countActivePods(scene.pods);
  const evacuations: { vmi: VirtualMachineInstance; migration: VirtualMachineInstanceMigration }[] =
    [];
  const stuck: VirtualMachineInstance[] = [];
  for (const [index, vmi] of readList(scene.vmis, "vmis").entries()) {
    if (vmi.status?.nodeName !== node || !(drained || isLeaving(vmi, now))) continue;
    const decide = () => evictionDecision(vmi, config);
    const { migratableOnEviction } = guardVmi(vmi, decide, `vmis[${index}]`);
    if (isEnding(vmi) || !migratableOnEviction) continue;
    if (!canMove(vmi)) stuck.push(vmi);
    else if (!moving.has(keyOf(vmi)) && (pods.get(ownerKey(vmi.metadata)) ?? 0) <= 1) {
      evacuations.push({ vmi, migration: evacuationMigration(vmi, node, config.names) });
    }
  }
  return { evacuations, stuck };
}

function isDrained(node: EvacuatedNode | undefined, taintKey: string): boolean {
  return readList(node?.spec?.taints ?? [], "node.spec.taints").some(
    ({ key, effect }) => key === taintKey && effect === "NoSchedule",
  );
}

function isUnfinished({ status }: VirtualMachineInstanceMigration): boolean {
  return status?.phase !== "Failed" && status?.phase !== "Succeeded";
}

/** Marked on this node, and not migrating already. */
function isLeaving({ status }: VirtualMachineInstance, now: number): boolean {
  if (!status?.evacuationNodeName || status.evacuationNodeName !== status.nodeName) return false;
  const { startTimestamp, endTimestamp } = status.migrationState ?? {};
  const started = hasPassed(startTimestamp, now);
  return !started || hasPassed(endTimestamp, now);
}

function hasPassed(time: string | null | undefined, now: number): boolean {
  return typeof time === "string" && Date.parse(time) <= now;
}

function isEnding({ metadata, status }: VirtualMachineInstance): boolean {
  if (status?.phase === "Failed" || status?.phase === "Succeeded") return true;
  return Boolean(metadata?.deletionTimestamp);
}

/** The first of several conditions of one type counts. */
function canMove(vmi: VirtualMachineInstance): boolean {
  return hasCondition(conditionsOf(vmi), "LiveMigratable", "True");
}

function keyOf({ metadata }: VirtualMachineInstance): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}

/**
 * The number of Pods that have not ended, by the namespace and UID of their controller. More than one means that a
 * migration has not been cleaned up yet.
 */
function countActivePods(pods: readonly EvacuatedPod[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [index, { metadata, status }] of readList(pods, "pods").entries()) {
    if (status?.phase === "Succeeded" || status?.phase === "Failed") continue;
    const path = `pods[${index}].metadata.ownerReferences`;
    const owner = readList(metadata?.ownerReferences ?? [], path).find((own) => own.controller);
    if (!owner) continue;
    const key = ownerKey({ namespace: metadata?.namespace, uid: owner.uid });
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** Distinguishes an absent name from an empty one. No namespace can contain the separator. */
function ownerKey(of: { namespace?: string | undefined; uid?: string | undefined } = {}): string {
  return JSON.stringify([of.namespace, of.uid]);
}

function evacuationMigration(
  { metadata }: VirtualMachineInstance,
  node: string,
  { annotations, groups }: Names,
): VirtualMachineInstanceMigration {
  // Rebalancing can wait.
  const rebalancing = metadata?.annotations?.[annotations.evictionSource] === "descheduler";
  return {
    apiVersion: `${groups.core}/v1`,
    kind: "VirtualMachineInstanceMigration",
    metadata: {
      generateName: "kubevirt-evacuation-",
      ...(metadata?.namespace ? { namespace: metadata.namespace } : {}),
      annotations: { [annotations.evacuationMigration]: node },
    },
    spec: {
      vmiName: metadata?.name ?? "",
      priority: rebalancing ? "system-maintenance" : "system-critical",
    },
  };
}
