import type { ClusterConfig } from "../config/index.ts";
import type {
  LabelSelector,
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineStatus,
} from "../schema/index.ts";
import { at, entry, objects, text } from "../shape.ts";

/** The state of changed-block tracking of a VM; empty for a VM that never had it. */
export type TrackingState =
  | ""
  | "PendingRestart"
  | "Initializing"
  | "Enabled"
  | "Disabled"
  | "IncrementalBackupFeatureGateDisabled";

/** What decides whether to track a VM. */
export interface TrackingView {
  readonly config: Pick<ClusterConfig, "gate" | "changedBlockTracking">;
  /** Labels of the VM's namespace; unknown labels select nothing. */
  readonly namespaceLabels?: Readonly<Record<string, string>> | undefined;
}

/** The initial state for a new VMI, if any. */
export function trackingOfNewVmi(
  vm: VirtualMachine,
  view: TrackingView,
): TrackingState | undefined {
  if (!view.config.gate("IncrementalBackup")) return undefined;
  if (isSelected(vm, view)) return "Initializing";
  return stateOf(vm) === "" ? undefined : "Disabled";
}

/** The VM's desired `changedBlockTracking`; `undefined` removes it. */
export function trackingStatusOf(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  view: TrackingView,
): VirtualMachineStatus["changedBlockTracking"] | undefined {
  const present = at(
    vm,
    "status",
    "changedBlockTracking",
  ) as VirtualMachineStatus["changedBlockTracking"];
  const next = nextState(vm, vmi, view);
  if (next === undefined) return undefined;
  if (next === "keep") return present;
  return { ...present, state: next };
}

function nextState(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  view: TrackingView,
): TrackingState | "keep" | undefined {
  const current = stateOf(vm);
  const gateOff = "IncrementalBackupFeatureGateDisabled";
  const isEnabled = view.config.gate("IncrementalBackup");
  if (!isEnabled && current === gateOff) return "keep";
  const selected = isSelected(vm, view);
  if (isEnabled) {
    return selected ? enabling(current, vmi) : disabling(current, vmi);
  }
  if (isOff(vmi)) return selected ? gateOff : undefined;
  return current === "Initializing" || current === "Enabled" ? "PendingRestart" : "keep";
}

function enabling(
  current: string,
  vmi: VirtualMachineInstance | undefined,
): TrackingState | "keep" {
  if (!isKnown(current)) return "";
  if (!vmi) return current === "Enabled" ? "Enabled" : "Initializing";
  const running = stateOf(vmi);
  switch (current) {
    case "":
    case "IncrementalBackupFeatureGateDisabled":
      return "PendingRestart";
    case "PendingRestart":
    case "Disabled":
      return running === "Initializing" || running === "Enabled" ? running : "PendingRestart";
    case "Initializing":
    case "Enabled":
      return running === "Enabled" ? "Enabled" : "Initializing";
  }
}

function disabling(
  current: string,
  vmi: VirtualMachineInstance | undefined,
): TrackingState | "keep" {
  if (current === "" || current === "Disabled") return "keep";
  if (isOff(vmi)) return "Disabled";
  return isKnown(current) ? "PendingRestart" : "";
}

function isKnown(state: string): state is TrackingState {
  return [
    "",
    "PendingRestart",
    "Initializing",
    "Enabled",
    "Disabled",
    "IncrementalBackupFeatureGateDisabled",
  ].includes(state);
}

/** Whether nothing is tracked: there is no VMI, or it does not track. */
function isOff(vmi: VirtualMachineInstance | undefined): boolean {
  return !vmi || ["", "Disabled"].includes(stateOf(vmi));
}

function stateOf(object: unknown): string {
  return text(at(object, "status", "changedBlockTracking", "state"));
}

function isSelected(vm: VirtualMachine, { config, namespaceLabels }: TrackingView): boolean {
  const { virtualMachineLabelSelector, namespaceLabelSelector } = config.changedBlockTracking ?? {};
  return (
    (virtualMachineLabelSelector !== undefined &&
      selects(virtualMachineLabelSelector, at(vm, "metadata", "labels"))) ||
    (namespaceLabelSelector !== undefined &&
      namespaceLabels !== undefined &&
      selects(namespaceLabelSelector, namespaceLabels))
  );
}

/** Whether a label selector selects these labels; one with an unknown operator does not. */
function selects(selector: LabelSelector, labels: unknown): boolean {
  const required = Object.entries(selector.matchLabels ?? {});
  return (
    required.every(([key, value]) => entry(labels, key) === value) &&
    objects(selector.matchExpressions).every((expression) => satisfies(expression, labels))
  );
}

function satisfies(expression: Readonly<Record<string, unknown>>, labels: unknown): boolean {
  const found = entry(labels, text(expression["key"]));
  const values = expression["values"];
  const isListed = Array.isArray(values) && values.includes(found);
  switch (expression["operator"]) {
    case "In":
      return found !== undefined && isListed;
    case "NotIn":
      return found === undefined || !isListed;
    case "Exists":
      return found !== undefined;
    case "DoesNotExist":
      return found === undefined;
    default:
      return false;
  }
}
