import type { ClusterConfig } from "@virtkit/api/config";
import type { KubeObject } from "@virtkit/kube";
import { type EvacuationScene, planEvacuation } from "@virtkit/migration/policy";
import { about } from "../plan/about.ts";
import { apiError } from "../plan/api-error.ts";
import { nameOf } from "../plan/object-name.ts";
import type { Plan, PlanError } from "../plan/plan.ts";
import { PlanDraft } from "../plan/plan-draft.ts";
import { vmResources } from "../plan/vm-resources.ts";
import type { WriteOutcome } from "../plan/write-outcome.ts";

/** Everything that one pass over a node depends on. */
export interface NodeEvacuationView extends EvacuationScene {
  /** Migrations that an earlier pass created and the view does not show yet. */
  readonly expected?: "creation" | undefined;
}

/**
 * Creates a migration for each VMI that must leave a node, all at once: the migration controller decides how many
 * of them run at a time.
 *
 * @param now milliseconds since the epoch
 * @param outcomes of the writes so far; see `carryOut`
 */
export function planNodeEvacuation(
  view: NodeEvacuationView,
  config: ClusterConfig,
  now: number,
  outcomes: readonly WriteOutcome[] = [],
): Plan {
  const draft = new PlanDraft(outcomes);
  if (view.expected !== undefined) return draft.finish();
  const { migrations: resource, vmis } = vmResources(config.names);
  let error: PlanError | undefined;
  for (const { vmi, migration } of planEvacuation(view, config, now).evacuations) {
    const object = migration as unknown as KubeObject;
    const refusal = draft.write({ kind: "create", resource, object });
    if (refusal) error ??= apiError(refusal);
    const { name } = nameOf(vmi);
    draft.event({
      ...(refusal
        ? {
            type: "Warning",
            reason: "FailedCreate",
            message: `no migration was created for VMI ${name}: ${refusal.message}`,
          }
        : {
            type: "Normal",
            reason: "SuccessfulCreate",
            message: `a migration was created for VMI ${name}, which must leave its node`,
          }),
      about: about(vmi, vmis),
    });
  }
  return draft.finish(error);
}
