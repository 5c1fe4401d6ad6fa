import { isApiError } from "../api-error.ts";
import type { ClusterConfig } from "../config/index.ts";
import { copyChecked } from "../copy-checked.ts";
import { defaultSpec } from "../defaults/index.ts";
import { expandVm, type InstancetypeConflict, unmetRequirement } from "../instancetype/index.ts";
import { type VirtualMachine, VirtualMachineSchema } from "../schema/index.ts";
import { type Refusal, refuse, refuseFor } from "./admission.ts";
import type { AppliedInstancetype } from "./admission-lookup.ts";
import { type Cause, notFound } from "./cause.ts";
import { templateSpec } from "./decode-virtual-machine.ts";

/** A VM as it would run, or why that cannot be determined. */
export type Expanded = { readonly vm: VirtualMachine } | { readonly refused: Refusal };

/**
 * The VM with its instancetype and preference applied and its spec defaulted: this is judged instead of what
 * was sent. The argument is not changed.
 */
export function expandMachine(
  sent: VirtualMachine,
  applied: AppliedInstancetype,
  config: ClusterConfig,
): Expanded {
  const { instancetype, preference } = applied;
  const copy = copyChecked(VirtualMachineSchema, sent);
  copy.spec.template.spec = templateSpec(copy);
  const expanded = expandVm(copy, instancetype, preference);
  if (expanded.kind === "refused") return conflicting(expanded.conflicts);
  const { vm } = expanded;
  const spec = templateSpec(vm);
  try {
    defaultSpec(spec, config);
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { refused: refuse(400, error.message) };
  }
  const unmet = unmetRequirement(instancetype, preference, spec);
  if (!unmet) return { vm };
  return refusedBy(
    notFound(unmet.fields.join(", "), unmet.message, "spec.preference requires more:"),
  );
}

function conflicting(conflicts: readonly InstancetypeConflict[]): Expanded {
  return refusedBy(
    conflicts.map(({ field, message }) => ({ reason: "FieldValueInvalid", field, message })),
  );
}

function refusedBy(causes: readonly Cause[]): Expanded {
  return { refused: refuseFor(causes) };
}
