import { livePodAnnotations } from "@virtkit/api/network";
import { quantityFrom } from "@virtkit/api/quantity";
import type { VirtualMachineInstanceMigrationState } from "@virtkit/api/schema";
import { entry, text } from "@virtkit/api/shape";
import { conditionsOf, findCondition } from "@virtkit/api/status";
import type { JsonPatchOperation } from "@virtkit/kube";
import { hasDedicatedCpus } from "@virtkit/launcher-pod/traits";
import { resolveMigrationOptions } from "@virtkit/migration/policy";
import { apiError } from "../plan/api-error.ts";
import { valuePatch } from "../plan/field-patch.ts";
import { jsonPointer } from "../plan/json-pointer.ts";
import { mapPatch, type TextMap } from "../plan/map-patch.ts";
import { nameOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import { podResource } from "../plan/resources.ts";
import type { PodObject } from "../vmi/cluster-objects.ts";
import { podName } from "../vmi/pod-writes.ts";
import { hasAttachedVolumes } from "./attach-volumes.ts";
import { failedPass, isFailedPass } from "./failed-pass.ts";
import { earlierHandover, grantTest } from "./grant-handover.ts";
import type { MigrationPass } from "./migration-pass.ts";
import { isDecentralized, isStateOf } from "./migration-phase.ts";
import { targetUserChange } from "./runtime-user.ts";

/** Whether the node agents know of the migration, or will once they see what was written. */
export function isHandedOff({ vmi, migration, view }: MigrationPass): boolean {
  return isStateOf(vmi, migration) || view.isHandedOff === true;
}

/**
 * Informs the node agents of the migration: where the guest leaves, where it goes, and under which rules.
 */
export function handOff(pass: MigrationPass, targetPod: PodObject): PlanError | undefined {
  const failure = nameNetworks(pass, targetPod);
  if (failure) return failure;
  const { vmi, migration, draft, resources } = pass;
  if (isStateOf(vmi, migration)) return undefined;
  const earlier = earlierHandover(pass);
  if (earlier !== undefined)
    return failedPass(`the node agents have not been informed yet: ${earlier}`);
  const state = nextState(pass, targetPod);
  if (isFailedPass(state)) return state;
  const { labels, failure: unlabelled } = nextLabels(pass, targetPod);
  if (unlabelled) return unlabelled;
  const joined = joinedChanges(pass, targetPod);
  const refusal = draft.write({
    kind: "patch",
    resource: resources.vmis,
    object: nameOf(vmi),
    operations: [
      ...grantTest(pass),
      ...labelTest(pass),
      ...valuePatch("/status/migrationState", vmi.status?.migrationState, state),
      ...mapPatch(["metadata", "labels"], vmi.metadata?.labels, labels),
      ...joined.operations,
    ],
  });
  if (!refusal) {
    // Otherwise the phase that is reached in the same pass says it.
    if (pass.isStepwise) {
      const message = "the target's node agent was asked to prepare to receive the guest";
      pass.event("Normal", "SuccessfulHandOver", message);
    }
    const { metadata } = joined.vmi;
    const status = { ...joined.vmi.status, migrationState: state };
    pass.wrote({ ...vmi, metadata: { ...metadata, labels: { ...labels } }, status });
    return undefined;
  }
  const message = `the node agents could not be informed of the migration: ${refusal.message}`;
  pass.event("Warning", "FailedHandOver", message);
  return apiError(refusal);
}

/** What KubeVirt writes by itself, before the node agents need it: the target's user, and that there is another Pod. */
function joinedChanges(
  pass: MigrationPass,
  targetPod: PodObject,
): ReturnType<typeof targetUserChange> {
  if (pass.isStepwise) return { vmi: pass.vmi, operations: [] };
  const { vmi, operations } = targetUserChange(pass, targetPod);
  const { activePods } = vmi.status ?? {};
  const [uid, node] = [text(targetPod.metadata?.uid), text(targetPod.spec?.nodeName)];
  if (activePods?.[uid] === node) return { vmi, operations };
  const all = { ...activePods, [uid]: node };
  const added: JsonPatchOperation = activePods
    ? { op: "add", path: jsonPointer("status", "activePods", uid), value: node }
    : { op: "add", path: jsonPointer("status", "activePods"), value: all };
  const status = { ...vmi.status, activePods: all };
  return { vmi: { ...vmi, status }, operations: [...operations, added] };
}

/**
 * The label of an earlier migration to the same node looks like this one's, and that node's agent may just be
 * removing it: then it must be set again.
 */
function labelTest({ grant, vmi, names }: MigrationPass): readonly JsonPatchOperation[] {
  const { labels } = vmi.metadata ?? {};
  if (!grant || !labels) return [];
  const { migrationTargetNodeName: key } = names.labels;
  const path = jsonPointer("metadata", "labels", key);
  return [{ op: "test", path, value: entry(labels, key) ?? null }];
}

/** The target Pod says which interface belongs to which network, as the source does. */
function nameNetworks(pass: MigrationPass, pod: PodObject): PlanError | undefined {
  const before = pod.metadata?.annotations;
  const wanted = livePodAnnotations(pass.vmi, pod, pass.config.cluster);
  const operations = mapPatch(["metadata", "annotations"], before, { ...before, ...wanted });
  if (operations.length === 0) return undefined;
  const object = podName(pod);
  const refusal = pass.draft.write({ kind: "patch", resource: podResource, object, operations });
  return refusal && apiError(refusal);
}

function nextState(
  pass: MigrationPass,
  targetPod: PodObject,
): VirtualMachineInstanceMigrationState | PlanError {
  const { vmi, migration, uid, view, config } = pass;
  const before = vmi.status?.migrationState;
  const { sourcePod, sourcePersistentStatePVCName, targetPersistentStatePVCName } =
    migration.status?.migrationState ?? {};
  const node = text(targetPod.spec?.nodeName);
  const pod = text(targetPod.metadata?.name);
  const attachment = hasAttachedVolumes(pass) ? pass.attachmentPod : undefined;
  if (hasAttachedVolumes(pass) && !attachment) {
    return failedPass("the Pod that brings the attached volumes to the target does not exist yet");
  }
  if (!view.namespace) return failedPass(`namespace ${pass.namespace} is unknown`);
  const { options, policy } = resolveMigrationOptions(
    vmi,
    view.namespace.metadata?.labels,
    view.policies,
    config.cluster,
  );
  const { completed: _, failed: __, ...known } = before ?? {};
  const isAcrossClusters = isDecentralized(migration);
  return {
    ...(isAcrossClusters ? known : {}),
    migrationUid: uid,
    targetNode: node,
    targetPod: pod,
    sourceNode: text(isAcrossClusters ? before?.sourceState?.node : vmi.status?.nodeName),
    ...targetOverhead(pass, targetPod),
    ...(isAcrossClusters
      ? {
          targetState: {
            ...before?.targetState,
            migrationUID: uid,
            node,
            pod,
            virtualMachineInstanceUID: text(vmi.metadata?.uid),
            domainNamespace: text(vmi.metadata?.namespace),
            domainName: text(vmi.metadata?.name),
          },
        }
      : {}),
    ...(sourcePod ? { sourcePod } : {}),
    ...(sourcePersistentStatePVCName ? { sourcePersistentStatePVCName } : {}),
    ...(targetPersistentStatePVCName ? { targetPersistentStatePVCName } : {}),
    ...(attachment ? { targetAttachmentPodUID: text(attachment.metadata?.uid) } : {}),
    ...(policy ? { migrationPolicyName: text(policy.metadata?.name) } : {}),
    migrationConfiguration: options,
  };
}

function targetOverhead(
  { config, names }: MigrationPass,
  { metadata }: PodObject,
): Pick<VirtualMachineInstanceMigrationState, "targetMemoryOverhead"> {
  const bytes = text(metadata?.annotations?.[names.annotations.memoryOverheadBytes]);
  if (!config.cluster.gate("VmiMemoryOverheadReport") || !/^[+-]?\d+$/.test(bytes)) return {};
  return { targetMemoryOverhead: binaryText(bytes) };
}

function binaryText(bytes: string): string {
  return quantityFrom("0Ki").add(quantityFrom(bytes)).toString();
}

/**
 * The target's node, by which its agent finds the VMI, and what the target Pod has in addition to
 * the source's.
 */
function nextLabels(
  pass: MigrationPass,
  pod: PodObject,
): { readonly labels: TextMap; readonly failure?: PlanError } {
  const { vmi, names } = pass;
  const { migrationTargetNodeName, podCpuLimits, podMemoryRequests } = names.labels;
  const labels: Record<string, string> = {
    ...vmi.metadata?.labels,
    [migrationTargetNodeName]: text(pod.spec?.nodeName),
  };
  const compute = pod.spec?.containers?.find(({ name }) => name === "compute");
  const { limits = {}, requests = {} } = compute?.resources ?? {};
  const changes = (type: string): boolean => findCondition(conditionsOf(vmi), type) !== undefined;
  if (changes("HotVCPUChange") && hasDedicatedCpus(vmi.spec)) {
    const limit = limits["cpu"];
    if (limit === undefined)
      return { labels, failure: failedPass("the target Pod has no CPU limit") };
    labels[podCpuLimits] = quantityFrom(limit).value().toString();
  }
  if (changes("HotMemoryChange")) {
    const request = requests["memory"];
    if (request === undefined)
      return { labels, failure: failedPass("the target Pod does not request memory") };
    const pages = ["hugepages-2Mi", "hugepages-1Gi"].flatMap((key) => requests[key] ?? []);
    labels[podMemoryRequests] = pages
      .reduce((sum, each) => sum.add(quantityFrom(each)), quantityFrom(request))
      .toString();
  }
  return { labels };
}
