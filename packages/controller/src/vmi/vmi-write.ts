import { grantAnnotation } from "@virtkit/api/grant";
import { sameJson } from "@virtkit/api/network";
import type {
  VirtualMachineInstanceNetworkInterface,
  VirtualMachineInstanceStatus,
} from "@virtkit/api/schema";
import { at, entry, text } from "@virtkit/api/shape";
import { type Condition, conditionsOf, removeCondition, sameConditions } from "@virtkit/api/status";
import type { JsonPatchOperation } from "@virtkit/kube";
import { jsonPointer } from "../plan/json-pointer.ts";
import { mapPatch } from "../plan/map-patch.ts";
import type { PlannedWrite } from "../plan/plan.ts";
import { vmiResource } from "../plan/resources.ts";
import { podsOf } from "./own-pods.ts";
import type { VmiPass } from "./vmi-pass.ts";

/** Parts of the status that stay this controller's after the node agent has taken over the VMI. */
const sharedFields = [
  "volumeStatus",
  "conditions",
  "activePods",
  "phase",
  "launcherContainerImageVersion",
  "interfaces",
] as const satisfies readonly (keyof VirtualMachineInstanceStatus)[];

/** Whether the node agent writes the VMI, too. */
export function isHandedOver({ vmi }: VmiPass): boolean {
  return vmi.status?.phase === "Scheduled" || vmi.status?.phase === "Running";
}

/**
 * The one write that brings the VMI to its desired state; undefined if it is there.
 *
 * While only this controller writes the VMI, the write demands that nobody else has written it.
 * Later each part is written only if it is as it was seen. It is compared as the API server has it,
 * so that a left-out empty field does not make the write fail. But that a guest has ended is written
 * only if nobody else has written anything: it may just have arrived on another node.
 */
export function vmiWrite(pass: VmiPass): PlannedWrite | undefined {
  const { names, namespace, name } = pass;
  const changes = isHandedOver(pass) ? sharedChanges(pass) : ownChanges(pass);
  if (changes.length === 0) return undefined;
  const version = pass.vmi.metadata?.resourceVersion;
  const isExclusive = !isHandedOver(pass) || (pass.grant !== undefined && !isSame(pass, "phase"));
  const demand: readonly JsonPatchOperation[] =
    !isExclusive || version === undefined
      ? []
      : [{ op: "test", path: "/metadata/resourceVersion", value: version }];
  return {
    kind: "patch",
    resource: vmiResource(names),
    object: { namespace, name },
    operations: [...demand, ...changes],
  };
}

function ownChanges(pass: VmiPass): readonly JsonPatchOperation[] {
  const { vmi, status } = pass;
  const metadata = metadataChanges(pass);
  if (!vmi.status) {
    return Object.keys(status).length === 0
      ? metadata
      : [...metadata, { op: "add", path: "/status", value: status }];
  }
  const keys = new Set([...Object.keys(vmi.status), ...Object.keys(status)]);
  const changed = [...keys].filter((key) => !sameJson(at(vmi.status, key), at(status, key)));
  if (metadata.length === 0 && changed.every((key) => canWait(pass, key))) return [];
  return [...metadata, ...changed.flatMap((key) => fieldChange(pass, key))];
}

/**
 * What can wait for the next write: that a Pod is being created, and that a VMI which is being
 * deleted is no longer ready. Nobody acts on these.
 */
function canWait(pass: VmiPass, field: string): boolean {
  const { config, vmi, status, isBeingDeleted } = pass;
  if (config.stepByStep) return false;
  if (field === "conditions" && isBeingDeleted) {
    const others = (conditions: readonly Condition[]) => removeCondition(conditions, "Ready");
    return sameConditions(others(conditionsOf(vmi)), others(conditionsOf({ status })));
  }
  const isPodFact = field === "activePods" || field === "qosClass";
  if (isPodFact && (vmi.status?.phase === "Scheduling" || isBeingDeleted)) return true;
  return field === "activePods" && isWrittenByHandOff(pass);
}

/** Whether nothing has changed but Pods that may receive the guest, which are written when the node agents learn of them. */
function isWrittenByHandOff({ view, vmi, status, names }: VmiPass): boolean {
  const { migrationUid } = vmi.status?.migrationState ?? {};
  const targets = podsOf(view).filter(({ metadata }) => {
    const migration = entry(metadata?.labels, names.labels.migrationJobUid);
    return migration !== undefined && migration !== migrationUid;
  });
  const isTarget = (uid: string): boolean =>
    targets.some(({ metadata }) => text(metadata?.uid) === uid);
  const before = vmi.status?.activePods ?? {};
  const after = status.activePods ?? {};
  const uids = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return uids.every((uid) => before[uid] === after[uid] || (isTarget(uid) && !(uid in before)));
}

function sharedChanges(pass: VmiPass): readonly JsonPatchOperation[] {
  const changed = sharedFields.filter((field) => !isSame(pass, field));
  const metadata = metadataChanges(pass);
  if (metadata.length === 0 && changed.every((field) => canWait(pass, field))) return [];
  const status = changed.flatMap((field) => [
    { op: "test", path: `/status/${field}`, value: at(pass.vmi.status, field) ?? null } as const,
    ...fieldChange(pass, field),
  ]);
  return [...status, ...metadata];
}

/** Conditions are equal if they say the same, whatever their times; interfaces in any order. */
function isSame({ vmi, status }: VmiPass, field: (typeof sharedFields)[number]): boolean {
  if (field === "conditions") return sameConditions(conditionsOf(vmi), conditionsOf({ status }));
  if (field === "interfaces") {
    return sameJson(byName(vmi.status?.interfaces), byName(status.interfaces));
  }
  return sameJson(vmi.status?.[field], status[field]);
}

function byName(
  interfaces: readonly VirtualMachineInstanceNetworkInterface[] = [],
): readonly VirtualMachineInstanceNetworkInterface[] {
  return interfaces.toSorted((a, b) => (text(a.name) < text(b.name) ? -1 : 1));
}

function fieldChange({ vmi, status }: VmiPass, key: string): readonly JsonPatchOperation[] {
  const value = at(status, key);
  const path = jsonPointer("status", key);
  if (value !== undefined) return [{ op: "add", path, value }];
  return at(vmi.status, key) === undefined ? [] : [{ op: "remove", path }];
}

function metadataChanges(pass: VmiPass): readonly JsonPatchOperation[] {
  const { labels, finalizers } = pass.vmi.metadata ?? {};
  return [
    ...mapPatch(["metadata", "labels"], labels, pass.labels),
    ...annotationChanges(pass),
    ...finalizerChanges(finalizers, pass.finalizers),
  ];
}

function finalizerChanges(
  before: readonly string[] | undefined,
  after: readonly string[],
): readonly JsonPatchOperation[] {
  if (sameJson(before, after)) return [];
  const path = "/metadata/finalizers";
  return [
    { op: "test", path, value: before ?? null },
    { op: "add", path, value: after },
  ];
}

/** After the handover of a VMI only the run grant is written, and only if it is as it was read. */
function annotationChanges(pass: VmiPass): readonly JsonPatchOperation[] {
  const before = pass.vmi.metadata?.annotations;
  if (!isHandedOver(pass))
    return mapPatch(["metadata", "annotations"], before, pass.writtenAnnotations);
  const key = pass.names.own(grantAnnotation);
  const value = pass.grant?.annotations[key];
  if (value === undefined || value === before?.[key]) return [];
  const path = jsonPointer("metadata", "annotations", key);
  return [
    { op: "test", path, value: before?.[key] ?? null },
    { op: "add", path, value },
  ];
}
