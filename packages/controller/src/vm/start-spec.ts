import type { VirtualMachineSpec } from "@virtkit/api/schema";
import { at, isObject, text } from "@virtkit/api/shape";
import { nameOf, uidOf } from "../plan/object-name.ts";
import { isControlledBy } from "../plan/ownership.ts";
import type { Stop, VmPass } from "./vm-pass.ts";
import type { ControllerRevision } from "./vm-view.ts";

/** Finds the spec that the VMI was started with: the latest stored generation. */
export function readStartSpec(pass: VmPass): Stop | undefined {
  if (!pass.vmi) return undefined;
  let latest: { generation: number; revision: ControllerRevision } | undefined;
  for (const revision of startRevisions(pass)) {
    const { name } = nameOf(revision);
    const generation = generationOf(name);
    if (generation === undefined) {
      const message = `ControllerRevision ${name} does not end in a generation; delete it`;
      return { kind: "end", error: { kind: "other", reason: "InvalidRevision", message } };
    }
    if (generation > (latest?.generation ?? 0)) latest = { generation, revision };
  }
  const spec = at(latest?.revision, "data", "spec");
  pass.startedWith = isObject(spec) ? (spec as unknown as VirtualMachineSpec) : undefined;
  return undefined;
}

/** The stored specs of a VM. */
export function startRevisions({ vm, view }: VmPass): readonly ControllerRevision[] {
  const uid = uidOf(vm);
  return (view.revisions ?? []).filter(
    (revision) =>
      isControlledBy(revision, uid) && nameOf(revision).name.includes(`revision-start-vm-${uid}`),
  );
}

/** The generation in the name of a stored spec. */
export function generationOf(revisionName: string): number | undefined {
  const digits = text(revisionName.split("-").at(-1));
  return /^[+-]?\d+$/.test(digits) ? Number(digits) : undefined;
}
