import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { entry } from "@virtkit/api/shape";
import type { JsonPatchOperation } from "@virtkit/kube";
import { mapPatch, type TextMap } from "../plan/map-patch.ts";
import { nameOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import type { PodObject } from "../vmi/cluster-objects.ts";
import { failedPass } from "./failed-pass.ts";
import type { MigrationPass } from "./migration-pass.ts";

/** The user that guests run as when they do not run as root. */
const unprivilegedUser = 107;

/**
 * Makes the target run as the user that the cluster wants now: a migration changes that, too. Unless every step is written, the
 * hand-off writes it to the VMI; see {@link targetUserChange}.
 *
 * @returns the VMI with that user
 */
export function setRuntimeUser(pass: MigrationPass): {
  readonly vmi: VirtualMachineInstance;
  readonly failure?: PlanError;
} {
  const { draft, resources, config } = pass;
  const { vmi, operations } = withUser(pass, config.cluster.gate("Root") ? 0 : unprivilegedUser);
  if (operations.length === 0 || !pass.isStepwise) return { vmi };
  const object = nameOf(vmi);
  const refusal = draft.write({ kind: "patch", resource: resources.vmis, object, operations });
  if (!refusal) return { vmi };
  const failure = failedPass(`the VMI's user could not be set: ${refusal.message}`);
  return { vmi: pass.vmi, failure };
}

/** What must change in the VMI for the user that a target Pod was made for, whatever the cluster wants by now. */
export function targetUserChange(
  pass: MigrationPass,
  { metadata }: PodObject,
): { readonly vmi: VirtualMachineInstance; readonly operations: readonly JsonPatchOperation[] } {
  const mark = entry(metadata?.annotations, pass.names.annotations.nonRoot);
  return withUser(pass, mark === undefined ? 0 : unprivilegedUser);
}

function withUser(
  pass: MigrationPass,
  runtimeUser: number,
): { readonly vmi: VirtualMachineInstance; readonly operations: readonly JsonPatchOperation[] } {
  const { vmi } = pass;
  const isSame = (vmi.status?.runtimeUser ?? 0) === runtimeUser;
  const before = vmi.metadata?.annotations;
  const annotations = markUser(pass, runtimeUser);
  const operations = [
    ...(isSame ? [] : [{ op: "add", path: "/status/runtimeUser", value: runtimeUser } as const]),
    ...mapPatch(["metadata", "annotations"], before, annotations),
  ];
  if (operations.length === 0) return { vmi, operations };
  const status = { ...vmi.status, runtimeUser };
  return { vmi: { ...vmi, metadata: { ...vmi.metadata, annotations }, status }, operations };
}

/** Older launchers recognise a guest that does not run as root by an annotation. */
function markUser({ vmi, names }: MigrationPass, user: number): TextMap {
  const { nonRoot } = names.annotations;
  const { [nonRoot]: _, ...others } = vmi.metadata?.annotations ?? {};
  if (user === 0) return others;
  return { ...others, [nonRoot]: entry(vmi.metadata?.annotations, nonRoot) ?? "true" };
}
