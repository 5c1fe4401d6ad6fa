import type { VirtualMachine } from "@virtkit/api/schema";
import { at, objects, text } from "@virtkit/api/shape";
import { volumesOf } from "@virtkit/api/status/vm";
import type { KubeObject, Resource } from "@virtkit/kube";
import { apiError } from "../plan/api-error.ts";
import { nameOf, uidOf } from "../plan/object-name.ts";
import { isControlledBy, release } from "../plan/ownership.ts";
import type { PlanError } from "../plan/plan.ts";
import { claimResource } from "../plan/resources.ts";
import { dataVolumeResource } from "../plan/vm-resources.ts";
import type { PoolPass } from "./pool-pass.ts";

/** Makes the volumes of a VM outlive it: they no longer belong to it. */
export function preserveState(pass: PoolPass, vm: VirtualMachine): PlanError | undefined {
  const templates = objects(at(vm, "spec", "dataVolumeTemplates")).map((template) =>
    text(at(template, "metadata", "name")),
  );
  const named = (source: string, field: string): readonly string[] =>
    volumesOf(vm).map((volume) => text(at(volume, source, field)));
  const claims = new Set([...templates, ...named("persistentVolumeClaim", "claimName")]);
  const dataVolumes = new Set([...templates, ...named("dataVolume", "name")]);
  return (
    disown(pass, vm, claimResource, pick(pass.view.claims, claims)) ??
    disown(pass, vm, dataVolumeResource, pick(pass.view.dataVolumes, dataVolumes))
  );
}

function pick(
  candidates: readonly KubeObject[] | undefined,
  names: ReadonlySet<string>,
): readonly KubeObject[] {
  return (candidates ?? []).filter((item) => names.has(nameOf(item).name));
}

function disown(
  pass: PoolPass,
  vm: VirtualMachine,
  resource: Resource,
  candidates: readonly KubeObject[],
): PlanError | undefined {
  const { namespace } = nameOf(vm);
  const uid = uidOf(vm);
  for (const item of candidates) {
    if (nameOf(item).namespace !== namespace || !isControlledBy(item, uid)) continue;
    const refusal = pass.draft.write({
      kind: "patch",
      resource,
      object: nameOf(item),
      operations: release(item, uid),
    });
    if (refusal) return apiError(refusal);
  }
  return undefined;
}
