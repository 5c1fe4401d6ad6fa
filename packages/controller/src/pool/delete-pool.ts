import { at } from "@virtkit/api/shape";
import { apiError } from "../plan/api-error.ts";
import type { Selector } from "../plan/label-selector.ts";
import { nameOf, uidOf } from "../plan/object-name.ts";
import { controllerOf } from "../plan/ownership.ts";
import type { PlanError } from "../plan/plan.ts";
import { withoutFinalizer } from "./pool-finalizer.ts";
import type { PoolPass } from "./pool-pass.ts";

/**
 * Removes the pool's finalizer from its VMs, so that they can be deleted with it. Other VMs are
 * left alone.
 */
export function releaseVms(pass: PoolPass, selector: Selector): PlanError | undefined {
  let error: PlanError | undefined;
  for (const vm of pass.view.vms) {
    const controller = controllerOf(vm);
    const isOurs = controller
      ? controller.uid === uidOf(pass.pool)
      : selector.matches(at(vm, "metadata", "labels"));
    const operations = withoutFinalizer(vm, pass.config.names.finalizers.pool);
    if (!isOurs || operations.length === 0) continue;
    const refusal = pass.draft.write({
      kind: "patch",
      resource: pass.resources.vms,
      object: nameOf(vm),
      operations,
    });
    if (refusal && refusal.reason !== "NotFound") error = apiError(refusal);
  }
  return error;
}

/** Releases the pool as the last step: afterwards there may be nothing to write to. */
export function releasePool(pass: PoolPass): PlanError | undefined {
  const operations = withoutFinalizer(pass.pool, pass.config.names.finalizers.pool);
  if (operations.length === 0) return undefined;
  const refusal = pass.draft.write({
    kind: "patch",
    resource: pass.resources.pools,
    object: nameOf(pass.pool),
    operations,
  });
  return refusal && refusal.reason !== "NotFound" ? apiError(refusal) : undefined;
}
