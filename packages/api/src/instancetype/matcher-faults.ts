import type { VirtualMachine } from "../schema/index.ts";
import { at, isObject, isSet, text } from "../shape.ts";

/** What is wrong with a matcher, as an admission cause. */
export interface MatcherFault {
  readonly reason: "FieldValueInvalid" | "FieldValueNotFound" | "FieldValueNotSupported";
  readonly field: string;
  readonly message: string;
}

const matchers = [
  ["instancetype", "InstancetypeMatcher"],
  ["preference", "PreferenceMatcher"],
] as const;

/**
 * What is wrong with the matchers of a VM, that of the first one that has a fault. `before` is the VM as
 * it was, for an update.
 */
export function matcherFaults(
  vm: VirtualMachine,
  before: VirtualMachine | undefined,
): readonly MatcherFault[] {
  const updates = before ? matchers.map(([kind]) => updateFaults(vm, before, kind)) : [];
  const own = matchers.map(([kind, type]) => ownFaults(vm, kind, type));
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
  return [
    {
      reason: "FieldValueInvalid",
      field: `spec.${kind}.revisionName`,
      message: "the Matcher Name has been updated without updating the RevisionName",
    },
  ];
}

function ownFaults(vm: VirtualMachine, kind: string, type: string): MatcherFault[] {
  const matcher = at(vm, "spec", kind);
  if (!isSet(matcher)) return [];
  const faults: MatcherFault[] = [];
  const infers = text(at(matcher, "inferFromVolume")) !== "";
  if (!infers && !text(at(matcher, "name"))) {
    faults.push({
      reason: "FieldValueNotFound",
      field: `spec.${kind}`,
      message: `Either Name or InferFromVolume should be provided within the ${type}`,
    });
  }
  for (const [field, word] of [
    ["name", "Name"],
    ["kind", "Kind"],
  ] as const) {
    if (!infers || !text(at(matcher, field))) continue;
    faults.push({
      reason: "FieldValueNotSupported",
      field: `spec.${kind}.${field}`,
      message: `${word} already set, should be cleared before setting inferFromVolume`,
    });
  }
  const policy = at(matcher, "inferFromVolumeFailurePolicy");
  if (isSet(policy) && policy !== "Ignore" && policy !== "Reject") {
    faults.push({
      reason: "FieldValueInvalid",
      field: `spec.${kind}.inferFromVolumeFailurePolicy`,
      message: `Invalid value '${text(policy)}' for InferFromVolumeFailurePolicy`,
    });
  }
  return faults;
}
