import { sameMeaning } from "../canonical-form.ts";
import type { ClusterConfig } from "../config/index.ts";
import type {
  VirtualMachine,
  VirtualMachineCondition,
  VirtualMachineInstance,
  VirtualMachineInstanceCondition,
  VirtualMachineStatus,
} from "../schema/index.ts";
import { VirtualMachineStatusSchema } from "../schema/virtual-machine/virtual-machine-status.ts";
import { at, entry, isSet, number, object, text } from "../shape.ts";
import { type TrackingView, trackingStatusOf } from "./changed-block-tracking.ts";
import {
  conditionsOf,
  findCondition,
  hasCondition,
  observeCondition,
  removeCondition,
  setCondition,
} from "./conditions.ts";
import { nextMemoryDumpRequest } from "./memory-dump-request.ts";
import { isFinal, phaseOf } from "./phases.ts";
import type { PlanFailure, Write } from "./plan.ts";
import { printableStatus, type VmView } from "./printable-status.ts";
import { runStrategyName } from "./run-strategy.ts";
import { startFailureOf } from "./start-backoff.ts";
import { isFirstRequestDone, stateChangeRequestsOf } from "./state-change-requests.ts";
import { withVolumeMigration } from "./volume-migration-state.ts";
import { openVolumeRequests } from "./volume-requests.ts";

/** Everything that the status of a VM depends on. */
export interface VmStatusView extends VmView, TrackingView {
  readonly config: TrackingView["config"] & Pick<ClusterConfig, "names">;
  /** Why the last pass failed, if it did. */
  readonly failure?: PlanFailure | undefined;
  /** The generation that the VMI was created from, if the VMI itself does not say it. */
  readonly revisionGeneration?: number | undefined;
  readonly random: () => number;
}

/** The status of a VM and the writes that it needs. */
export interface VmStatusPlan {
  readonly status: VirtualMachineStatus;
  /** Empty if nothing needs to change. */
  readonly writes: readonly Write[];
}

/** Conditions of the VM itself; all others are mirrored from the VMI. */
const ownConditions = new Set(["Ready", "Failure", "RestartRequired"]);

/** The status that a VM should have, from the state of the VM, its VMI and its storage. */
export function planVmStatus(given: VmStatusView): VmStatusPlan {
  const view = { ...given, vm: object(given.vm) as unknown as VirtualMachine };
  const { vm, vmi } = view;
  const status = statusOf(view);
  const writes: Write[] = [];
  if (!sameMeaning(status, vm.status, VirtualMachineStatusSchema)) {
    const updated = { ...vm, status };
    const target = { resource: "virtualmachines", subresource: "status" } as const;
    writes.push({ kind: "update", ...target, object: updated });
  }
  if (vmi && mayGo(vmi)) writes.push(...finalizerWrites(vmi, view.config.names.finalizers.vm));
  return { status, writes };
}

function statusOf(view: VmStatusView): VirtualMachineStatus {
  const { vm, vmi, failure } = view;
  const present = object(vm.status) as VirtualMachineStatus;
  const isReady = hasCondition(conditionsOf(vmi), "Ready", "True");
  const wasStarted = text(present.runStrategy) !== "" || vmi !== undefined;
  const requests = stateChangeRequestsOf(vm);
  const volumeRequests = openVolumeRequests(vm);
  const base: VirtualMachineStatus = replace(present, {
    created: vmi ? true : undefined,
    ready: isReady || undefined,
    ...(vmi ? generations(vmi, view) : {}),
    // Recorded from the first start on, to distinguish "never started" from "stopped".
    ...(wasStarted ? { runStrategy: runStrategyName(vm) || undefined } : {}),
    volumeRequests: volumeRequests.length > 0 ? [...volumeRequests] : undefined,
    memoryDumpRequest: nextMemoryDumpRequest(vm, vmi),
    stateChangeRequests: isFirstRequestDone(vm, vmi) ? requests.slice(1) : [...requests],
    startFailure: startFailureOf(vm, vmi, view),
  });
  const migrated = withVolumeMigration({ ...vm, status: base }, vmi);
  const conditions = conditionsFor(migrated, vmi, failure, isoTime(view.now));
  const current = { ...vm, status: { ...migrated, conditions: [...conditions] } };
  return replace(current.status, {
    printableStatus: printableStatus({ ...view, vm: current }),
    changedBlockTracking: trackingStatusOf(current, vmi, view),
  });
}

function generations(
  vmi: VirtualMachineInstance,
  { vm, config, revisionGeneration }: VmStatusView,
): Pick<VirtualMachineStatus, "observedGeneration" | "desiredGeneration"> {
  const name = config.names.annotations.vmGeneration;
  const annotation = entry(at(vmi, "metadata", "annotations"), name) ?? "";
  const observed = /^[+-]?\d+$/.test(annotation) ? Number(annotation) : revisionGeneration;
  if (observed === undefined) return {};
  return {
    observedGeneration: observed,
    desiredGeneration: number(at(vm, "metadata", "generation")),
  };
}

function conditionsFor(
  status: VirtualMachineStatus,
  vmi: VirtualMachineInstance | undefined,
  failure: PlanFailure | undefined,
  now: string,
): readonly VirtualMachineCondition[] {
  const present = conditionsOf<VirtualMachineCondition>({ status });
  const ready = setCondition(present, readyCondition(vmi, now));
  const own = observeCondition(
    ready,
    "Failure",
    failure && {
      status: "True",
      reason: failure.reason,
      message: failure.message,
      lastTransitionTime: now,
    },
  );
  return vmi ? mirrored(own, conditionsOf<VirtualMachineInstanceCondition>(vmi)) : own;
}

/** `Ready` is always present, with or without a VMI. */
function readyCondition(
  vmi: VirtualMachineInstance | undefined,
  now: string,
): VirtualMachineCondition {
  const found = findCondition(conditionsOf<VirtualMachineInstanceCondition>(vmi), "Ready");
  if (found) return copied(found);
  const times = { lastProbeTime: now, lastTransitionTime: now };
  return vmi
    ? {
        type: "Ready",
        status: "False",
        reason: "VMIConditionMissing",
        message: "the VMI does not say yet whether it is ready",
        ...times,
      }
    : {
        type: "Ready",
        status: "False",
        reason: "VMINotExists",
        message: "there is no VMI; the VM is not started",
        ...times,
      };
}

function mirrored(
  conditions: readonly VirtualMachineCondition[],
  source: readonly VirtualMachineInstanceCondition[],
): readonly VirtualMachineCondition[] {
  const shown = source.filter(({ type }) => !ownConditions.has(type));
  const types = new Set<string>(shown.map(({ type }) => type));
  const added = shown.reduce(
    (list, condition) => setCondition(list, copied(condition)),
    conditions,
  );
  return added
    .filter(({ type }) => !ownConditions.has(type) && !types.has(type))
    .reduce((list, { type }) => removeCondition(list, type), added);
}

function copied(condition: VirtualMachineInstanceCondition): VirtualMachineCondition {
  const { type, status, reason, message, lastProbeTime, lastTransitionTime } = condition;
  return {
    type: text(type),
    status: text(status),
    ...(isSet(reason) ? { reason: text(reason) } : {}),
    ...(isSet(message) ? { message: text(message) } : {}),
    ...(lastProbeTime === undefined ? {} : { lastProbeTime }),
    ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
  };
}

/** Whether the VM has seen everything that it needs from a VMI. */
function mayGo(vmi: VirtualMachineInstance): boolean {
  const isDeletedReceiver =
    phaseOf(vmi) === "WaitingForSync" && isSet(at(vmi, "metadata", "deletionTimestamp"));
  return isFinal(vmi) || isDeletedReceiver;
}

function finalizerWrites(vmi: VirtualMachineInstance, finalizer: string): readonly Write[] {
  const present = at(vmi, "metadata", "finalizers");
  if (!Array.isArray(present) || !present.includes(finalizer)) return [];
  const path = "/metadata/finalizers";
  return [
    {
      kind: "patch",
      resource: "virtualmachineinstances",
      name: text(at(vmi, "metadata", "name")),
      patch: [
        { op: "test", path, value: present },
        { op: "replace", path, value: present.filter((name) => name !== finalizer) },
      ],
    },
  ];
}

/** `status` with these fields; `undefined` and an empty list remove one. */
function replace(
  status: VirtualMachineStatus,
  fields: { readonly [K in keyof VirtualMachineStatus]?: VirtualMachineStatus[K] | undefined },
): VirtualMachineStatus {
  const entries = Object.entries({ ...status, ...fields }).filter(
    ([, value]) => isSet(value) && !(Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(entries) as VirtualMachineStatus;
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
}
