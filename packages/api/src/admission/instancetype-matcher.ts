import type {
  InstancetypeMatcher,
  PreferenceMatcher,
  VirtualMachineSpec,
} from "../schema/index.ts";
import { type Cause, fine, invalid, isSet, join, notFound, notSupported, quote } from "./cause.ts";

type Matcher = InstancetypeMatcher | PreferenceMatcher;

/**
 * The references of a VirtualMachine to an instancetype and a preference. Judged while mutating,
 * because defaulting follows them; the first of the checks that finds something is reported.
 */
export function instancetypeMatchers(
  spec: VirtualMachineSpec,
  old: VirtualMachineSpec | undefined,
): readonly Cause[] {
  const stages = [
    () => revisionFollowsName(spec.instancetype, old?.instancetype, "spec.instancetype"),
    () => revisionFollowsName(spec.preference, old?.preference, "spec.preference"),
    () => matcher(spec.instancetype, "spec.instancetype"),
    () => matcher(spec.preference, "spec.preference"),
  ];
  for (const stage of stages) {
    const causes = stage();
    if (causes.length > 0) return causes;
  }
  return fine;
}

/** Whoever changes the name must not keep the revision of the other thing. */
function revisionFollowsName(
  now: Matcher | undefined,
  old: Matcher | undefined,
  field: string,
): readonly Cause[] {
  // KubeVirt hands over new and old in exchanged roles: it is the new revision that must be set.
  if (!now?.revisionName || !old) return fine;
  if (now.name === old.name || now.revisionName !== old.revisionName) return fine;
  return invalid(
    `${field}.revisionName`,
    `is still ${quote(old.revisionName)} and the name changed to ${quote(now.name)}; remove it`,
  );
}

const failurePolicies: ReadonlySet<string> = new Set(["Reject", "Ignore"]);

function matcher(found: Matcher | undefined, field: string): readonly Cause[] {
  if (!found) return fine;
  const policy = found.inferFromVolumeFailurePolicy;
  return join(
    found.name || found.inferFromVolume
      ? fine
      : notFound(field, "has neither name nor inferFromVolume; set one"),
    found.inferFromVolume ? notBeside(found, field) : fine,
    !isSet(policy) || failurePolicies.has(policy)
      ? fine
      : invalid(
          `${field}.inferFromVolumeFailurePolicy`,
          `is ${quote(policy)}; use Reject or Ignore`,
        ),
  );
}

function notBeside(found: Matcher, field: string): readonly Cause[] {
  return (["name", "kind"] as const)
    .filter((name) => found[name])
    .flatMap((name) =>
      notSupported(
        `${field}.${name}`,
        "is set, and inferFromVolume decides it; remove one of them",
      ),
    );
}
