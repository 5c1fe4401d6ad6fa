import type { ClusterConfig } from "../config/index.ts";
import type { VirtualMachine, VirtualMachinePreferenceSpec } from "../schema/index.ts";
import { at, isSet, object, text } from "../shape.ts";
import { inferMatcher, type MatcherKind, type VolumeLookup } from "./infer-matcher.ts";
import { type MatcherFault, matcherFaults } from "./matcher-faults.ts";
import { matcherScope } from "./matcher-scope.ts";
import { changeItems, type Draft, draftOf, part, setIfEmpty, setIfMissing } from "./spec-draft.ts";

/** The objects of the cluster; `undefined` if one does not exist. */
export interface MatcherLookup extends VolumeLookup {
  preference(namespace: string, name: string): VirtualMachinePreferenceSpec | undefined;
  clusterPreference(name: string): VirtualMachinePreferenceSpec | undefined;
  /** The preference that was stored under this name, for VMs that are bound to a revision. */
  preferenceRevision(namespace: string, name: string): StoredPreference | undefined;
}

/** A stored version of a preference. */
export interface StoredPreference {
  /** Name of the preference, by the label `instancetype.kubevirt.io/object-name`. */
  readonly objectName?: string | undefined;
  readonly spec: VirtualMachinePreferenceSpec;
}

/** The VM with resolved matchers, or why it is refused. */
export type SettledVm =
  | { readonly kind: "settled"; readonly vm: VirtualMachine }
  | { readonly kind: "faults"; readonly faults: readonly MatcherFault[] }
  | { readonly kind: "not-inferred"; readonly message: string };

/**
 * What admission does about instance types and preferences: checks the matchers, infers those that point to a
 * volume, and takes architecture, machine type and storage class from the preference. A preference that does
 * not exist (yet) is ignored.
 */
export function settleMatchers(
  vm: VirtualMachine,
  before: VirtualMachine | undefined,
  lookup: MatcherLookup,
  config: Pick<ClusterConfig, "names">,
): SettledVm {
  const faults = matcherFaults(vm, before);
  if (faults.length > 0) return { kind: "faults", faults };
  const draft = draftOf(vm);
  for (const kind of ["instancetype", "preference"] as const) {
    const message = infer(draft, kind, lookup, config);
    if (message !== undefined) return { kind: "not-inferred", message };
  }
  const settled = draft as unknown as VirtualMachine;
  const preference = findPreference(settled, lookup);
  if (preference) applyToVm(part(draft, "spec"), preference);
  return { kind: "settled", vm: settled };
}

/** Replaces a matcher that points to a volume. Returns why that is not possible. */
function infer(
  draft: Draft,
  kind: MatcherKind,
  lookup: MatcherLookup,
  config: Pick<ClusterConfig, "names">,
): string | undefined {
  const volume = text(at(draft, "spec", kind, "inferFromVolume"));
  if (!volume) return undefined;
  const ignores = at(draft, "spec", kind, "inferFromVolumeFailurePolicy") === "Ignore";
  const inferred = inferMatcher(draft as unknown as VirtualMachine, volume, kind, lookup, config);
  const spec = part(draft, "spec");
  if ("problem" in inferred) {
    if (!inferred.ignorable || !ignores) return inferred.problem;
    delete spec[kind];
    return undefined;
  }
  spec[kind] = { name: inferred.name, ...(inferred.kind ? { kind: inferred.kind } : {}) };
  // With `Ignore` the memory in the template is only used if nothing can be inferred.
  if (kind === "instancetype" && ignores) delete part(spec, "template", "spec", "domain")["memory"];
  return undefined;
}

/**
 * The preference that a VM is bound to. If the VM names a revision, only that counts; the one in the status
 * counts while the VM names the same preference.
 */
function findPreference(
  vm: VirtualMachine,
  lookup: MatcherLookup,
): VirtualMachinePreferenceSpec | undefined {
  if (!isSet(at(vm, "spec", "preference"))) return undefined;
  const namespace = text(at(vm, "metadata", "namespace"));
  const name = text(at(vm, "spec", "preference", "name"));
  const named = text(at(vm, "spec", "preference", "revisionName"));
  if (named) return lookup.preferenceRevision(namespace, named)?.spec;
  const recorded = text(at(vm, "status", "preferenceRef", "controllerRevisionRef", "name"));
  if (recorded) {
    const stored = lookup.preferenceRevision(namespace, recorded);
    if (!stored || stored.objectName === name) return stored?.spec;
  }
  switch (matcherScope("preference", text(at(vm, "spec", "preference", "kind")))) {
    case "namespace":
      return lookup.preference(namespace, name);
    case "cluster":
      return lookup.clusterPreference(name);
    default:
      return undefined;
  }
}

function applyToVm(spec: Draft, preference: VirtualMachinePreferenceSpec): void {
  if (isSet(spec["template"])) {
    const template = part(spec, "template", "spec");
    setIfEmpty(template, "architecture", preference.preferredArchitecture);
    const machineType = text(at(preference, "machine", "preferredMachineType"));
    if (machineType) setIfEmpty(part(template, "domain", "machine"), "type", machineType);
  }
  const storageClass = text(at(preference, "volumes", "preferredStorageClassName"));
  if (!storageClass) return;
  changeItems(spec, "dataVolumeTemplates", (template) => {
    for (const kind of ["pvc", "storage"]) {
      if (!isSet(at(object(template["spec"]), kind))) continue;
      setIfMissing(part(template, "spec", kind), "storageClassName", storageClass);
    }
  });
}
