import { evictionDecision } from "@virtkit/api/admission";
import type { ClusterConfig } from "@virtkit/api/config";
import type { Names } from "@virtkit/api/names";
import type {
  ObjectMeta,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from "@virtkit/api/schema";

/** A node, as far as evacuation looks at it. */
export interface EvacuatedNode {
  readonly metadata?: ObjectMeta;
  readonly spec?: { readonly taints?: readonly { key?: string; effect?: string }[] };
}

/** A Pod, as far as evacuation looks at it. */
export interface EvacuatedPod {
  readonly metadata?: ObjectMeta;
  readonly status?: { readonly phase?: string };
}

/** What there is in the cluster. */
export interface EvacuationScene {
  readonly node: EvacuatedNode;
  readonly vmis: readonly VirtualMachineInstance[];
  readonly migrations: readonly VirtualMachineInstanceMigration[];
  readonly pods: readonly EvacuatedPod[];
}

/** What is to be done to empty a node. */
export interface EvacuationPlan {
  /** VMIs that get a migration, and the migration that each gets. */
  readonly evacuations: readonly {
    readonly vmi: VirtualMachineInstance;
    readonly migration: VirtualMachineInstanceMigration;
  }[];
  /** VMIs that should move and cannot. */
  readonly stuck: readonly VirtualMachineInstance[];
}

/**
 * Decides which VMIs of a node get a migration. With the drain taint on the node: all of them;
 * otherwise those that an eviction has marked and that are neither gone nor on their way. `now` is
 * in milliseconds since the epoch.
 */
export function planEvacuation(
  scene: EvacuationScene,
  config: ClusterConfig,
  now: number,
): EvacuationPlan {
  const node = scene.node.metadata?.name ?? "";
  const drained = isDrained(scene.node, config.migrations.nodeDrainTaintKey);
  const moving = new Set(
    scene.migrations.filter(isUnfinished).map(({ metadata, spec }) => {
      return `${metadata?.namespace}/${spec?.vmiName}`;
    }),
  );
  const evacuations: { vmi: VirtualMachineInstance; migration: VirtualMachineInstanceMigration }[] =
    [];
  const stuck: VirtualMachineInstance[] = [];
  for (const vmi of scene.vmis) {
    if (vmi.status?.nodeName !== node || !(drained || isLeaving(vmi, now))) continue;
    const { migratableOnEviction, isMigratable } = evictionDecision(vmi, config);
    if (isEnding(vmi) || !migratableOnEviction) continue;
    if (!isMigratable) stuck.push(vmi);
    else if (!moving.has(keyOf(vmi)) && activePods(vmi, scene.pods) <= 1) {
      evacuations.push({ vmi, migration: evacuationMigration(vmi, node, config.names) });
    }
  }
  return { evacuations, stuck };
}

function isDrained({ spec }: EvacuatedNode, taintKey: string): boolean {
  return (
    spec?.taints?.some(({ key, effect }) => key === taintKey && effect === "NoSchedule") ?? false
  );
}

function isUnfinished({ status }: VirtualMachineInstanceMigration): boolean {
  return status?.phase !== "Failed" && status?.phase !== "Succeeded";
}

/** Marked on this very node, and not migrating already. */
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

function keyOf({ metadata }: VirtualMachineInstance): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}

/** More than one Pod is a migration that has not been cleaned up yet. */
function activePods({ metadata }: VirtualMachineInstance, pods: readonly EvacuatedPod[]): number {
  return pods.filter(({ metadata: own, status }) => {
    if (own?.namespace !== metadata?.namespace) return false;
    if (status?.phase === "Succeeded" || status?.phase === "Failed") return false;
    const owner = own?.ownerReferences?.find(({ controller }) => controller);
    return owner !== undefined && owner.uid === metadata?.uid;
  }).length;
}

function evacuationMigration(
  { metadata }: VirtualMachineInstance,
  node: string,
  { annotations, groups }: Names,
): VirtualMachineInstanceMigration {
  // A mere rebalancing can wait.
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
