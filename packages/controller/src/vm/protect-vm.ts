import { at } from "@virtkit/api/shape";
import { apiError } from "../plan/api-error.ts";
import { valuePatch } from "../plan/field-patch.ts";
import { observedVersion, withObservedVersion } from "../plan/observed-version.ts";
import { isDeleting } from "../plan/ownership.ts";
import type { Stop, VmPass } from "./vm-pass.ts";

/**
 * Adds version and finalizer in one write to a VM that bypassed the webhook, which gives both to
 * every new VM. The pass continues.
 */
export function prepareVm(pass: VmPass): Stop | undefined {
  if (!pass.view.grant) return undefined;
  const { names } = pass.config;
  const before = finalizersOf(pass.vm);
  const needsFinalizer = !isDeleting(pass.vm) && !before.includes(names.finalizers.vm);
  const finalizers = needsFinalizer ? [...before, names.finalizers.vm] : before;
  const versions = observedVersion(pass.vm, names);
  const refusal = pass.patchVm(
    [
      ...versions,
      ...(needsFinalizer
        ? valuePatch("/metadata/finalizers", at(pass.vm, "metadata", "finalizers"), finalizers)
        : []),
    ],
    { guarded: true },
  );
  if (refusal) return { kind: "end", error: apiError(refusal) };
  const annotations = withObservedVersion(at(pass.vm, "metadata", "annotations"), names);
  const metadata = { ...pass.vm.metadata, annotations, finalizers: [...finalizers] };
  pass.vm = { ...pass.vm, metadata };
  return undefined;
}

/** Records the version of the API on a VM that lacks it; the change triggers the next pass. */
export function noteVersion(pass: VmPass): Stop | undefined {
  const operations = observedVersion(pass.vm, pass.config.names);
  if (operations.length === 0) return undefined;
  const refusal = pass.patchVm(operations, { guarded: true });
  return refusal ? { kind: "end", error: apiError(refusal) } : { kind: "end" };
}

/** Adds our finalizer to the VM before it can have a VMI, so that the VM outlives the VMI. */
export function protectVm(pass: VmPass): Stop | undefined {
  const finalizer = pass.config.names.finalizers.vm;
  const before = finalizersOf(pass.vm);
  if (before.includes(finalizer)) return undefined;
  const finalizers = [...before, finalizer];
  const refusal = pass.patchVm(
    valuePatch("/metadata/finalizers", at(pass.vm, "metadata", "finalizers"), finalizers),
  );
  if (refusal) return { kind: "end", error: apiError(refusal) };
  pass.vm = { ...pass.vm, metadata: { ...pass.vm.metadata, finalizers } };
  return undefined;
}

/** The finalizers of an object. */
export function finalizersOf(object: unknown): readonly string[] {
  const found = at(object, "metadata", "finalizers");
  return Array.isArray(found) ? found.filter((name) => typeof name === "string") : [];
}
