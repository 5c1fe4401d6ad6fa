import type { VirtualMachine, VirtualMachineInstance } from "../schema/index.ts";
import { at, isSet, number, text } from "../shape.ts";
import { conditionsOf, hasCondition } from "./conditions.ts";
import { isFinal, isRunning, phaseOf } from "./phases.ts";
import { countsStartFailures, runStrategyName } from "./run-strategy.ts";
import { hasStartRequest, hasStopRequestFor } from "./state-change-requests.ts";
import {
  hasFailed,
  hasUnboundClaim,
  isProvisioning,
  usedDataVolumes,
  type VmStorage,
} from "./vm-storage.ts";

/** Everything that the printable status of a VM depends on. */
export interface VmView extends VmStorage {
  readonly vm: VirtualMachine;
  readonly vmi?: VirtualMachineInstance | undefined;
  /** What the controller has just requested and not seen yet. */
  readonly expected?: "creation" | "deletion" | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The printable statuses in order of precedence: several may apply, and the first one is shown. */
export const printableStatuses = [
  "Terminating",
  "Stopping",
  "Migrating",
  "Paused",
  "Running",
  "ErrorPvcNotFound",
  "DataVolumeError",
  "ErrorUnschedulable",
  "Provisioning",
  "WaitingForVolumeBinding",
  "ErrImagePull",
  "ImagePullBackOff",
  "Starting",
  "CrashLoopBackOff",
  "Stopped",
  "WaitingForReceiver",
] as const;

/** What `kubectl get vm` shows in its column STATUS. */
export type PrintableStatus = (typeof printableStatuses)[number] | "Unknown";

const holds: Readonly<Record<(typeof printableStatuses)[number], (view: VmView) => boolean>> = {
  Terminating: ({ vm }) => isSet(at(vm, "metadata", "deletionTimestamp")),
  Stopping: isStopping,
  Migrating: isMigrating,
  Paused: ({ vmi }) => isRunning(vmi) && vmiSays(vmi, "Paused", "True"),
  Running: ({ vmi }) => isRunning(vmi),
  ErrorPvcNotFound: ({ vmi }) => vmiSays(vmi, "Synchronized", "False", "FailedPvcNotFound"),
  DataVolumeError: (view) => usedDataVolumes(view.vm, view).some(hasFailed),
  ErrorUnschedulable: ({ vmi }) => vmiSays(vmi, "PodScheduled", "False", "Unschedulable"),
  Provisioning: (view) => usedDataVolumes(view.vm, view).some(isProvisioning),
  WaitingForVolumeBinding: (view) => isToRun(view) && hasUnboundClaim(view.vm, view),
  ErrImagePull: ({ vmi }) => vmiSays(vmi, "Synchronized", "False", "ErrImagePull"),
  ImagePullBackOff: ({ vmi }) => vmiSays(vmi, "Synchronized", "False", "ImagePullBackOff"),
  Starting: isStarting,
  CrashLoopBackOff: isCrashLooping,
  Stopped: ({ vmi, expected }) => (vmi ? isFinal(vmi) : expected !== "creation"),
  WaitingForReceiver: isWaitingForReceiver,
};

/**
 * The first of {@link printableStatuses} that applies, otherwise `Unknown`.
 *
 * @example
 * ```ts
 * printableStatus({ vm, vmi, dataVolumes, claims, now: Date.now() }); // "Running"
 * ```
 */
export function printableStatus(view: VmView): PrintableStatus {
  return printableStatuses.find((status) => holds[status](view)) ?? "Unknown";
}

/** Whether a migration of the VMI has begun and not ended, by the times in its status. */
export function isMigrating({ vmi, now }: Pick<VmView, "vmi" | "now">): boolean {
  const state = at(vmi, "status", "migrationState");
  const hasPassed = (field: string): boolean => Date.parse(text(at(state, field))) <= now;
  return hasPassed("startTimestamp") && !hasPassed("endTimestamp");
}

function isStopping({ vmi, expected }: VmView): boolean {
  if (!vmi || isFinal(vmi)) return false;
  return isSet(at(vmi, "metadata", "deletionTimestamp")) || expected === "deletion";
}

function isStarting({ vmi, expected }: VmView): boolean {
  if (!vmi) return expected === "creation";
  return ["", "Pending", "Scheduling", "Scheduled"].includes(phaseOf(vmi));
}

function isCrashLooping({ vm, vmi, expected }: VmView): boolean {
  if ((vmi && !isFinal(vmi)) || expected === "creation") return false;
  const failures = number(at(vm, "status", "startFailure", "consecutiveFailCount"));
  return failures > 0 && countsStartFailures(runStrategyName(vm));
}

function isWaitingForReceiver({ vm, vmi }: VmView): boolean {
  const isWaiting = !vmi || phaseOf(vmi) === "WaitingForSync";
  return isWaiting && runStrategyName(vm) === "WaitAsReceiver";
}

/** Whether the run strategy wants a guest: a present one to stay, or a missing one to start. */
function isToRun({ vm, vmi }: VmView): boolean {
  switch (runStrategyName(vm)) {
    case "Always":
      return true;
    case "Manual":
      return vmi ? !hasStopRequestFor(vm, vmi) : hasStartRequest(vm);
    case "RerunOnFailure":
      return phaseOf(vmi) !== "Succeeded";
    case "Once":
      return !vmi;
    default:
      return false;
  }
}

function vmiSays(
  vmi: VirtualMachineInstance | undefined,
  type: string,
  status: string,
  reason?: string,
): boolean {
  return hasCondition(conditionsOf(vmi), type, status, reason);
}
