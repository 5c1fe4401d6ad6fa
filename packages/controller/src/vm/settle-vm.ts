import { semanticallyEqual } from "@virtkit/api/admission";
import { runMemoryCondition } from "@virtkit/api/grant";
import {
  type VirtualMachineCondition,
  type VirtualMachineStatus,
  VirtualMachineStatusSchema,
} from "@virtkit/api/schema";
import { at, object, text } from "@virtkit/api/shape";
import {
  conditionsOf,
  findCondition,
  isFinal,
  type PlanFailure,
  planVmStatus,
  runStrategyOf,
} from "@virtkit/api/status";
import { apiError } from "../plan/api-error.ts";
import { fieldPatch, valuePatch } from "../plan/field-patch.ts";
import { isDeleting } from "../plan/ownership.ts";
import type { Plan, PlanError } from "../plan/plan.ts";
import type { Refusal } from "../plan/write-outcome.ts";
import { mayGo } from "./delete-vm.ts";
import { withFailureMessage } from "./failure-message.ts";
import { backfillGeneration } from "./generation.ts";
import { finalizersOf } from "./protect-vm.ts";
import { grantOf, memoryCondition, type NextMemory, nextMemory } from "./run-memory.ts";
import { sameVmConditions } from "./same-vm-conditions.ts";
import { canWait } from "./status-can-wait.ts";
import type { VmPass } from "./vm-pass.ts";
import type { VmPassView } from "./vm-view.ts";

/** What to do about a VM now, and the status that it will have. */
export interface VmPlan extends Plan {
  readonly status?: VirtualMachineStatus | undefined;
  /** Nothing is planned: the decision needs a view that was read live. */
  readonly needsLiveRead?: true;
}

/**
 * Ends a pass: writes the status, then releases what the VM no longer has to watch. The order
 * matters. A VMI that ended keeps our finalizer until the VM's status shows its end.
 */
export function settleVm(pass: VmPass, failure: PlanFailure | undefined): VmPlan {
  const stop = backfillGeneration(pass);
  if (stop?.kind === "end") return pass.draft.finish(stop.error);
  const memory = nextMemory(pass);
  const status = statusOf(pass, failure, memory);
  const refusal = writeStatus(pass, status, memory) ?? releaseVmi(pass) ?? releaseVm(pass);
  if (refusal) return { ...pass.draft.finish(apiError(refusal)), status };
  return { ...pass.draft.finish(failure && syncError(failure)), status };
}

function syncError({ reason, message }: PlanFailure): PlanError {
  return { kind: "sync", reason, message };
}

function statusOf(
  pass: VmPass,
  failure: PlanFailure | undefined,
  memory: NextMemory | undefined,
): VirtualMachineStatus {
  const { view, vm, vmi, config, now, expected, options } = pass;
  const { status: planned } = planVmStatus({
    vm,
    vmi,
    config,
    now,
    failure,
    dataVolumes: view.dataVolumes,
    claims: view.claims,
    namespaceLabels: view.namespaceLabels,
    expected: expected.vmi,
    random: options.random ?? (() => 0),
  });
  const status = remembering(pass, withFailureMessage(planned, failure, now), memory);
  return { ...status, ...strategyOf(view, status), ...conditionsFor(pass, status) };
}

/** The status with what the VM remembers; a memory that cannot be read stays as it is. */
function remembering(
  pass: VmPass,
  status: VirtualMachineStatus,
  memory: NextMemory | undefined,
): VirtualMachineStatus {
  if (!pass.view.grant) return status;
  const type = pass.config.names.own(runMemoryCondition);
  const others = conditionsOf<VirtualMachineCondition>({ status }).filter(
    (each) => each.type !== type,
  );
  const kept = findCondition(conditionsOf<VirtualMachineCondition>(pass.view.vm), type);
  const own = memory ? memoryCondition(pass, memory) : kept;
  return { ...status, conditions: [...others, ...(own ? [own] : [])] };
}

/** The strategy that this pass followed, not one that it has just set. */
function strategyOf(
  { vm }: VmPassView,
  { runStrategy }: VirtualMachineStatus,
): VirtualMachineStatus {
  const found = runStrategyOf(vm);
  if (runStrategy === undefined || !("strategy" in found)) return {};
  return { runStrategy: found.strategy as typeof runStrategy };
}

/**
 * The VM's present conditions, if the new ones mean the same. A condition that is removed and set
 * again in a pass, such as `RestartRequired`, has another place and another time, and would be
 * written forever.
 */
function conditionsFor(
  { view, config }: VmPass,
  status: VirtualMachineStatus,
): VirtualMachineStatus {
  const before = conditionsOf<VirtualMachineCondition>(view.vm);
  const after = conditionsOf<VirtualMachineCondition>({ status });
  const isSame = before.length > 0 && sameVmConditions(before, after, config);
  return isSame ? { conditions: [...before] } : {};
}

function writeStatus(
  pass: VmPass,
  status: VirtualMachineStatus,
  memory: NextMemory | undefined,
): Refusal | undefined {
  const before = object(pass.view.vm.status) as VirtualMachineStatus;
  if (semanticallyEqual(VirtualMachineStatusSchema, before, status, "status")) return undefined;
  if (memory && !memory.isUrgent && canWait(pass, before, status)) return undefined;
  const operations = fieldPatch("/status", pass.view.vm.status, { ...status });
  return pass.patchVm(operations, { subresource: "status", guarded: true });
}

/**
 * Releases a VMI that has ended, or one that should receive a migration and is no longer wanted.
 * With a run grant, the grant must have ended; and a VM that is deleted as well leaves its VMI to
 * the VMI's own controllers.
 */
function releaseVmi(pass: VmPass): Refusal | undefined {
  const { vmi } = pass;
  const finalizer = pass.config.names.finalizers.vm;
  if (!vmi || !finalizersOf(vmi).includes(finalizer)) return undefined;
  const isReceiver = text(at(vmi, "status", "phase")) === "WaitingForSync";
  if (!isFinal(vmi) && !(isReceiver && isDeleting(vmi))) return undefined;
  if (pass.view.grant && (mayGo(pass) || grantOf(pass, vmi).state !== "Ended")) return undefined;
  return pass.patchVmi(withoutFinalizer(vmi, finalizer));
}

function releaseVm(pass: VmPass): Refusal | undefined {
  const finalizer = pass.config.names.finalizers.vm;
  if (!mayGo(pass) || !finalizersOf(pass.vm).includes(finalizer)) return undefined;
  return pass.patchVm(withoutFinalizer(pass.vm, finalizer));
}

function withoutFinalizer(target: unknown, finalizer: string): ReturnType<typeof valuePatch> {
  const path = "/metadata/finalizers";
  const before = at(target, "metadata", "finalizers");
  return valuePatch(
    path,
    before,
    finalizersOf(target).filter((name) => name !== finalizer),
  );
}
