import { at, isSet } from "@virtkit/api/shape";
import { expandIntoVm } from "./instancetype-expand.ts";
import { InstancetypeLookup } from "./instancetype-lookup.ts";
import { storeRevisions } from "./instancetype-revisions.ts";
import { failed, type Stop, type VmPass } from "./vm-pass.ts";

/**
 * Binds a VM to the instance type and the preference that it names, by the cluster's policy: with a
 * stored copy that later changes of the original do not affect, or by copying their values into the
 * VM.
 */
export function syncInstancetypes(pass: VmPass): Stop | undefined {
  const { vm, config } = pass;
  if (!isSet(at(vm, "spec", "instancetype")) && !isSet(at(vm, "spec", "preference"))) {
    return undefined;
  }
  const lookup = new InstancetypeLookup(pass);
  const found = lookup.typesOf(vm);
  if ("problem" in found) {
    const isType = found.missing === "instancetype";
    return failed(isType ? "FailedFindInstancetype" : "FailedFindPreference", found.problem);
  }
  const policy = config.instancetypeReferencePolicy;
  if (policy === "reference") return storeRevisions(pass, lookup);
  // A VM that is bound to a stored copy stays bound to it, unless all are to be expanded.
  if (policy === "expand" && isBound(pass)) return undefined;
  return expandIntoVm(pass, found);
}

function isBound({ vm }: VmPass): boolean {
  return ["instancetypeRef", "preferenceRef"].some((ref) =>
    isSet(at(vm, "status", ref, "controllerRevisionRef")),
  );
}
