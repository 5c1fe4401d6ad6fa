import type { Names } from "@virtkit/api/names";
import { apiError } from "../plan/api-error.ts";
import { fieldPatch } from "../plan/field-patch.ts";
import { nameOf } from "../plan/object-name.ts";
import { isDeleting } from "../plan/ownership.ts";
import type { Plan } from "../plan/plan.ts";
import { PlanDraft } from "../plan/plan-draft.ts";
import { vmResources } from "../plan/vm-resources.ts";
import type { WriteOutcome } from "../plan/write-outcome.ts";
import { installationStatus } from "./installation-status.ts";
import type { InstallationView } from "./installation-view.ts";

/**
 * Writes to the KubeVirt object how far the installation is: its phase, its versions and its conditions. Until it says
 * `Deployed`, no VM is updated.
 *
 * @param now milliseconds since the epoch
 * @param outcomes of the writes so far; see `carryOut`
 */
export function planInstallation(
  view: InstallationView,
  { names }: { readonly names: Names },
  now: number,
  outcomes: readonly WriteOutcome[] = [],
): Plan {
  const draft = new PlanDraft(outcomes);
  const { kubevirt } = view;
  if (isDeleting(kubevirt)) return draft.finish();
  const operations = fieldPatch("/status", kubevirt.status, { ...installationStatus(view, now) });
  if (operations.length === 0) return draft.finish();
  const refusal = draft.write({
    kind: "patch",
    resource: vmResources(names).kubevirts,
    object: nameOf(kubevirt),
    subresource: "status",
    operations,
  });
  return draft.finish(refusal && apiError(refusal));
}
