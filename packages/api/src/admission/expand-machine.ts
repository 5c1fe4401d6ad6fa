import { isApiError } from "../api-error.ts";
import type { ClusterConfig } from "../config/index.ts";
import { copyChecked } from "../copy-checked.ts";
import { defaultSpec } from "../defaults/index.ts";
import {
  applyInstancetype,
  type InstancetypeConflict,
  spreadProblem,
  unmetRequirement,
} from "../instancetype/index.ts";
import { type VirtualMachine, VirtualMachineSchema } from "../schema/index.ts";
import { type Refusal, refuse, refuseFor } from "./admission.ts";
import type { AppliedInstancetype } from "./admission-lookup.ts";
import { type Cause, notFound } from "./cause.ts";
import { templateSpec } from "./decode-machine.ts";

/** A machine as it would run, or why that cannot be told. */
export type Expanded = { readonly vm: VirtualMachine } | { readonly refused: Refusal };

/**
 * The machine with its instancetype and preference applied and its spec defaulted: what is judged in
 * place of what was sent. The argument is not changed.
 */
export function expandMachine(
  sent: VirtualMachine,
  applied: AppliedInstancetype,
  config: ClusterConfig,
): Expanded {
  const { instancetype, preference } = applied;
  const spread = spreadProblem(instancetype, preference);
  if (spread) return conflicting([spread.conflict]);
  const vm = copyChecked(VirtualMachineSchema, sent);
  const { template } = vm.spec;
  const annotations = template.metadata?.annotations;
  const result = applyInstancetype({ ...applied, spec: templateSpec(vm), annotations });
  if (result.kind === "conflicts") return conflicting(result.conflicts);
  if (result.kind === "invalid") return conflicting([result.problem]);
  template.spec = result.spec;
  if (result.annotations)
    template.metadata = { ...template.metadata, annotations: { ...result.annotations } };
  try {
    defaultSpec(template.spec, config);
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { refused: refuse(400, error.message) };
  }
  const unmet = unmetRequirement(instancetype, preference, template.spec);
  if (!unmet) return { vm };
  return refusedBy(
    notFound(unmet.fields.join(", "), unmet.message, "spec.preference asks for more:"),
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
