import { isDeepStrictEqual } from "node:util";
import { semanticallyEqual } from "@virtkit/api/admission";
import {
  type VirtualMachine,
  type VirtualMachineInstance,
  type VirtualMachineSpec,
  VirtualMachineSpecSchema,
} from "@virtkit/api/schema";
import { at, entry, object } from "@virtkit/api/shape";
import { conditionsOf, hasCondition, isRunning } from "@virtkit/api/status";
import { valuePatch } from "../plan/field-patch.ts";
import { nameOf, uidOf } from "../plan/object-name.ts";
import { isDeleting } from "../plan/ownership.ts";
import type { Refusal } from "../plan/write-outcome.ts";
import type { PoolPass } from "./pool-pass.ts";
import { storedSpec } from "./pool-revision.ts";
import type { VirtualMachinePool } from "./pool-view.ts";
import { wantedVms } from "./scale-pool.ts";
import { isReady, victimsOf } from "./selection.ts";

/** Seconds until a VMI that has to wait is looked at again. */
const retrySeconds = 3;

/** What a VMI needs to match its VM: `renew` also replaces its disks, which takes a new VM. */
type Refresh = "none" | "relabel" | "restart" | "renew";

/**
 * Updates VMIs to match their VMs by restarting them, as many at once as may be unavailable. VMIs
 * of VMs that are not ready come first and do not count: nobody misses them.
 */
export function refreshVmis(pass: PoolPass, vms: readonly VirtualMachine[]): string | undefined {
  const missed = vms.filter((vm) => !isReady(vm) && !isDeleting(pass.vmiOf(vm)));
  const problem = firstProblem(missed, (vm) => refresh(pass, vm, judge(pass, vm)));
  if (problem !== undefined) return problem;
  const most = maxUnavailable(pass);
  if (most === undefined) {
    return `spec.maxUnavailable is ${String(pass.pool.spec.maxUnavailable)}; use a number or a percentage`;
  }
  let left = most - vms.filter((vm) => !isAvailable(pass.vmiOf(vm))).length;
  const { proactive } = pass.pool.spec.updateStrategy ?? {};
  for (const vm of proactive ? victimsOf(vms, proactive.selectionPolicy) : vms) {
    if (left <= 0) {
      pass.draft.requeueAfter(retrySeconds);
      return undefined;
    }
    const needed = missed.includes(vm) ? "none" : judge(pass, vm);
    const failure = refresh(pass, vm, needed);
    if (failure !== undefined) return failure;
    if (needed !== "none") left -= 1;
  }
  return undefined;
}

function firstProblem<T>(
  items: readonly T[],
  attempt: (item: T) => string | undefined,
): string | undefined {
  for (const item of items) {
    const problem = attempt(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function judge(pass: PoolPass, vm: VirtualMachine): Refresh {
  const vmi = pass.vmiOf(vm);
  if (!vmi) return "none";
  const label = pass.config.names.labels.poolRevision;
  const wanted = entry(at(vm, "metadata", "labels"), label);
  if (wanted === undefined) return "none";
  const present = entry(at(vmi, "metadata", "labels"), label);
  if (present === undefined) return "restart";
  if (present === wanted) return "none";
  const [after, before] = [storedSpec(pass, wanted), storedSpec(pass, present)];
  if (!after) return "none";
  if (!before) return "restart";
  if (!isSame(before, after, "dataVolumeTemplates")) return "renew";
  return isSame(before, after, "template") ? "relabel" : "restart";
}

function isSame(
  a: VirtualMachinePool["spec"],
  b: VirtualMachinePool["spec"],
  field: "template" | "dataVolumeTemplates",
): boolean {
  const only = (spec: VirtualMachinePool["spec"]): VirtualMachineSpec => {
    const value = at(spec, "virtualMachineTemplate", "spec", field);
    const none = field === "template" ? {} : { template: {} };
    return { ...none, ...(value === undefined ? {} : { [field]: value }) } as VirtualMachineSpec;
  };
  return (
    isDeepStrictEqual(only(a), only(b)) ||
    semanticallyEqual(VirtualMachineSpecSchema, only(a), only(b))
  );
}

function refresh(pass: PoolPass, vm: VirtualMachine, needed: Refresh): string | undefined {
  const vmi = pass.vmiOf(vm);
  if (!vmi || needed === "none") return undefined;
  const refusal = write(pass, vm, vmi, needed);
  const { name } = nameOf(vm);
  if (!refusal) {
    const message = `VM ${name} was updated to the pool's template (${needed})`;
    pass.draft.event({ type: "Normal", reason: "SuccessfulDelete", message });
    return undefined;
  }
  const message = `VM ${name} could not be updated to the pool's template: ${refusal.message}`;
  if (needed !== "relabel") {
    pass.draft.event({ type: "Warning", reason: "FailedUpdate", message });
  }
  return message;
}

function write(
  pass: PoolPass,
  vm: VirtualMachine,
  vmi: VirtualMachineInstance,
  needed: Exclude<Refresh, "none">,
): Refusal | undefined {
  const { vms, vmis } = pass.resources;
  switch (needed) {
    case "restart":
      return pass.draft.write({
        kind: "delete",
        resource: vmis,
        object: nameOf(vmi),
        uid: uidOf(vmi),
      });
    case "renew":
      // The next VM with this number has disks of the same names: these must be gone first.
      return pass.draft.write({
        kind: "delete",
        resource: vms,
        object: nameOf(vm),
        uid: uidOf(vm),
        propagationPolicy: "Foreground",
      });
    case "relabel": {
      const label = pass.config.names.labels.poolRevision;
      const before = at(vmi, "metadata", "labels");
      const revision = entry(at(vm, "metadata", "labels"), label) ?? "";
      const operations = valuePatch("/metadata/labels", before, {
        ...object(before),
        [label]: revision,
      });
      return pass.draft.write({ kind: "patch", resource: vmis, object: nameOf(vmi), operations });
    }
  }
}

function isAvailable(vmi: VirtualMachineInstance | undefined): boolean {
  return vmi !== undefined && !isDeleting(vmi) && isRunning(vmi) && isVmiReady(vmi);
}

function isVmiReady(vmi: VirtualMachineInstance): boolean {
  return hasCondition(conditionsOf(vmi), "Ready", "True");
}

/** All by default; never fewer than one, or nothing would ever be updated. */
function maxUnavailable(pass: PoolPass): number | undefined {
  const given = pass.pool.spec.maxUnavailable ?? "100%";
  if (typeof given === "number") return Math.max(1, Math.trunc(given));
  const [, percent] = /^(\d{1,9})%?$/.exec(given) ?? [];
  if (percent === undefined) return undefined;
  return Math.max(1, Math.trunc((wantedVms(pass) * Number(percent)) / 100));
}
