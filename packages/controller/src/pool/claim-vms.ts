import type { VirtualMachine } from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import type { Selector } from "../plan/label-selector.ts";
import { nameOf, uidOf } from "../plan/object-name.ts";
import { judgeClaim, release } from "../plan/ownership.ts";
import type { PlanError } from "../plan/plan.ts";
import type { Refusal } from "../plan/write-outcome.ts";
import { withoutFinalizer } from "./pool-finalizer.ts";
import type { PoolPass } from "./pool-pass.ts";

/** Finds the pool's own VMs and releases those that are no longer selected. Adopts none. */
export function claimVms(pass: PoolPass, selector: Selector): PlanError | undefined {
  const own: VirtualMachine[] = [];
  let error: PlanError | undefined;
  for (const vm of pass.view.vms) {
    const verdict = judgeClaim(vm, pass.pool, selector.matches(at(vm, "metadata", "labels")));
    if (verdict === "own") own.push(vm);
    if (verdict !== "release") continue;
    const refusal = pass.draft.write({
      kind: "patch",
      resource: pass.resources.vms,
      object: nameOf(vm),
      operations: [
        ...release(vm, uidOf(pass.pool)),
        ...withoutFinalizer(vm, pass.config.names.finalizers.pool),
      ],
    });
    if (refusal && refusal.reason !== "NotFound") error ??= notReleased(vm, refusal);
  }
  pass.vms = own;
  return error;
}

function notReleased(vm: VirtualMachine, { reason, message }: Refusal): PlanError {
  return {
    kind: "other",
    reason,
    message: `VM ${nameOf(vm).name} could not be released: ${message}`,
  };
}
