import type { VirtualMachine } from "../schema/index.ts";
import { quote } from "../schema/issue.ts";
import { at, isObject, isSet, text } from "../shape.ts";

/** A fault of a matcher, as an admission cause. */
export interface MatcherFault {
  readonly reason: "FieldValueInvalid" | "FieldValueNotFound" | "FieldValueNotSupported";
  readonly field: string;
  readonly message: string;
}

const matchers = ["instancetype", "preference"] as const;

/** The fault of the first faulty matcher of a VM. `before` is the old VM, for an update. */
export function matcherFaults(
  vm: VirtualMachine,
  before: VirtualMachine | undefined,
): readonly MatcherFault[] {
  const updates = before ? matchers.map((kind) => updateFaults(vm, before, kind)) : [];
  const own = matchers.map((kind) => ownFaults(vm, kind));
  return [...updates, ...own].find((faults) => faults.length > 0) ?? [];
}

/** A revision belongs to one name. */
function updateFaults(vm: VirtualMachine, before: VirtualMachine, kind: string): MatcherFault[] {
  const present = at(vm, "spec", kind);
  const past = at(before, "spec", kind);
  if (!isObject(present) || !isObject(past)) return [];
  const revision = text(present["revisionName"]);
  const isRenamed = text(present["name"]) !== text(past["name"]);
  if (!revision || !isRenamed || revision !== text(past["revisionName"])) return [];
  const field = `spec.${kind}.revisionName`;
  const message = `${field} belongs to ${quote(text(past["name"]))}, but spec.${kind}.name has changed; remove it`;
  return [{ reason: "FieldValueInvalid", field, message }];
}

function ownFaults(vm: VirtualMachine, kind: string): MatcherFault[] {
  const matcher = at(vm, "spec", kind);
  if (!isSet(matcher)) return [];
  const faults: MatcherFault[] = [];
  const infers = text(at(matcher, "inferFromVolume")) !== "";
  if (!infers && !text(at(matcher, "name"))) {
    faults.push({
      reason: "FieldValueNotFound",
      field: `spec.${kind}`,
      message: `spec.${kind} has neither name nor inferFromVolume; set one`,
    });
  }
  for (const name of ["name", "kind"] as const) {
    const value = text(at(matcher, name));
    if (!infers || !value) continue;
    const field = `spec.${kind}.${name}`;
    const message = `${field} is ${quote(value)}, but inferFromVolume is set, too; keep one`;
    faults.push({ reason: "FieldValueNotSupported", field, message });
  }
  const policy = at(matcher, "inferFromVolumeFailurePolicy");
  if (isSet(policy) && policy !== "Ignore" && policy !== "Reject") {
    const field = `spec.${kind}.inferFromVolumeFailurePolicy`;
    const message = `${field} is ${quote(text(policy))}; use Ignore or Reject`;
    faults.push({ reason: "FieldValueInvalid", field, message });
  }
  return faults;
}
