import { names as namesOf } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at, objects, text } from "@virtkit/api/shape";
import type { JsonPatchOperation, KubeObject } from "@virtkit/kube";
import { jsonPointer } from "../plan/json-pointer.ts";
import { mapPatch } from "../plan/map-patch.ts";
import type { Plan, PlanError } from "../plan/plan.ts";
import { PlanDraft } from "../plan/plan-draft.ts";
import { nodeResource, vmiResource } from "../plan/resources.ts";
import type { WriteOutcome } from "../plan/write-outcome.ts";
import { isGuestElsewhere } from "./guest-elsewhere.ts";
import { isResponsive } from "./heartbeat.ts";
import { withoutLivePod } from "./live-pods.ts";
import type { NodePlanConfig, NodeView } from "./node-view.ts";
import { withOffered } from "./tsc-frequencies.ts";

const recheckSeconds = 60;
const unresponsive = "NodeUnresponsive";

/**
 * Decides what to do about a node: a node without a heartbeat is made unschedulable, and its VMIs
 * whose Pods have ended fail, unless their guests are being handed over or have moved. A VMI that fails
 * here keeps its finalizer until its Pods are proven to have ended, so that nothing starts a second copy.
 * Also keeps the labels by which a node offers TSC frequencies to guests.
 *
 * @param now milliseconds since the epoch.
 */
export function planNode(
  view: NodeView,
  config: NodePlanConfig,
  now: number,
  outcomes: readonly WriteOutcome[] = [],
): Plan {
  const draft = new PlanDraft(outcomes);
  const unoffered = offerFrequencies(view, config, draft);
  const responsive = isResponsive(view.node, config, now);
  // A heartbeat that cannot be read does not become readable by waiting.
  if (responsive === undefined) return draft.finish(unoffered);
  if (!responsive) {
    const failure = markUnresponsive(view, config, draft) ?? judgeVmis(view, config, draft);
    if (failure) return draft.finish({ kind: "other", reason: unresponsive, message: failure });
  }
  if (view.node) draft.requeueAfter(recheckSeconds);
  return draft.finish(unoffered);
}

/** A guest whose clock follows the TSC is only scheduled to a node that offers its frequency. */
function offerFrequencies(
  { name, node, requiredFrequencies }: NodeView,
  { names = namesOf() }: NodePlanConfig,
  draft: PlanDraft,
): PlanError | undefined {
  if (!node || !requiredFrequencies) return undefined;
  const { labels } = node.metadata;
  const operations = mapPatch(
    ["metadata", "labels"],
    labels,
    withOffered(node, requiredFrequencies, names),
  );
  if (operations.length === 0) return undefined;
  const object = { name };
  const refusal = draft.write({ kind: "patch", resource: nodeResource, object, operations });
  if (!refusal) return undefined;
  const message = `the TSC frequencies of node ${name} could not be offered: ${refusal.message}`;
  return { kind: "other", reason: refusal.reason, message };
}

function markUnresponsive(
  { name, node }: NodeView,
  { names = namesOf() }: NodePlanConfig,
  draft: PlanDraft,
): string | undefined {
  const label = names.nodeLabels.schedulable;
  const labels = node?.metadata.labels ?? {};
  if (!node || labels[label] !== "true") return undefined;
  const message = "the node agent does not respond; no VMI is scheduled here";
  draft.event({ type: "Normal", reason: unresponsive, message, about: node });
  const refusal = draft.write({
    kind: "patch",
    resource: nodeResource,
    object: { name },
    operations: mapPatch(["metadata", "labels"], labels, { ...labels, [label]: "false" }),
  });
  return refusal && `node ${name} could not be made unschedulable: ${refusal.message}`;
}

function judgeVmis(view: NodeView, config: NodePlanConfig, draft: PlanDraft): string | undefined {
  const active = view.vmis.filter(({ status }) =>
    ["Scheduled", "Running"].includes(text(status?.phase)),
  );
  if (active.length === 0) return undefined;
  return reportOrphans(view, config, draft) ?? failVmis(active, view, config, draft);
}

/** Reports a node that has VMIs but no node agent, and will not get one: a person has to look. */
function reportOrphans(
  { node, pods, daemonSets }: NodeView,
  { names = namesOf() }: NodePlanConfig,
  draft: PlanDraft,
): string | undefined {
  const isAgent = ({ metadata }: KubeObject): boolean =>
    metadata.labels?.[names.labels.app] === "virt-handler";
  if (!node || pods.some(isAgent)) return undefined;
  const [daemonSet, ...others] = daemonSets.filter(isAgent);
  if (!daemonSet || others.length > 0) {
    return `there must be exactly one DaemonSet of node agents, but there are ${daemonSet ? others.length + 1 : 0}`;
  }
  if (isSettled(daemonSet)) {
    const message = "the node has VMIs but no node agent; run an agent here to move or remove them";
    draft.event({ type: "Warning", reason: unresponsive, message, about: node });
  }
  return undefined;
}

/** Whether the DaemonSet has all its Pods, so that none is still to come. */
function isSettled(daemonSet: KubeObject): boolean {
  const count = (field: string): number => Number(at(daemonSet, "status", field) ?? 0);
  const desired = count("desiredNumberScheduled");
  return desired === count("currentNumberScheduled") || desired === count("numberReady");
}

function failVmis(
  vmis: readonly VirtualMachineInstance[],
  { name, pods }: NodeView,
  { names = namesOf() }: NodePlanConfig,
  draft: PlanDraft,
): string | undefined {
  const here = vmis.filter((vmi) => !isGuestElsewhere(vmi, name, names));
  const failures = withoutLivePod(here, objects(pods)).flatMap((vmi) => {
    const { metadata = {}, status } = vmi;
    const message = `the agent of node ${name} does not respond, and the VMI has no living Pod`;
    draft.event({ type: "Normal", reason: unresponsive, message, about: vmi });
    const refusal = draft.write({
      kind: "patch",
      resource: vmiResource(names),
      object: { namespace: text(metadata.namespace), name: text(metadata.name) },
      operations: [
        ...unchanged(metadata),
        { op: "test", path: "/status/phase", value: status?.phase ?? null },
        { op: "replace", path: "/status/phase", value: "Failed" },
        { op: "add", path: "/status/reason", value: unresponsive },
      ],
    });
    return refusal
      ? [`VMI ${text(metadata.name)} could not be marked as failed: ${refusal.message}`]
      : [];
  });
  return failures.length > 0 ? failures.join("; ") : undefined;
}

/**
 * Demands that nobody has written the VMI since it was listed: the guest may have arrived on another node before
 * the Pods were listed. Nor may it be a later VMI of the same name.
 */
function unchanged({
  uid,
  resourceVersion,
}: NonNullable<VirtualMachineInstance["metadata"]>): readonly JsonPatchOperation[] {
  return Object.entries({ uid, resourceVersion }).flatMap(([field, value]) =>
    value === undefined ? [] : [{ op: "test", path: jsonPointer("metadata", field), value }],
  );
}
