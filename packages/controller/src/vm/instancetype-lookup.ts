import { type ExpandedVm, expandVm, matcherScope } from "@virtkit/api/instancetype";
import type {
  VirtualMachine,
  VirtualMachineInstancetypeSpec,
  VirtualMachinePreferenceSpec,
} from "@virtkit/api/schema";
import { at, entry, isSet, object, text } from "@virtkit/api/shape";
import { nameOf } from "../plan/object-name.ts";
import type { VmPass } from "./vm-pass.ts";
import type { ControllerRevision, TypeObject } from "./vm-view.ts";

/** Which of the two a matcher names. */
export type MatcherKind = "instancetype" | "preference";

/** What a matcher refers to; nothing if there is no matcher. */
export type FoundSpec = { readonly spec?: object | undefined } | { readonly problem: string };

/** The instance type and the preference of a VM, or which of them cannot be found. */
export type FoundTypes =
  | {
      readonly instancetype?: VirtualMachineInstancetypeSpec | undefined;
      readonly preference?: VirtualMachinePreferenceSpec | undefined;
    }
  | { readonly missing: MatcherKind; readonly problem: string };

/** Looks up instance types and preferences in what a pass has seen and created. */
export class InstancetypeLookup {
  readonly #pass: VmPass;

  constructor(pass: VmPass) {
    this.#pass = pass;
  }

  /** Both of a VM; the instance type is looked up first. */
  typesOf(vm: VirtualMachine): FoundTypes {
    const instancetype = this.#specOf(vm, "instancetype");
    if ("problem" in instancetype) return { missing: "instancetype", ...instancetype };
    const preference = this.#specOf(vm, "preference");
    if ("problem" in preference) return { missing: "preference", ...preference };
    return {
      instancetype: instancetype.spec as VirtualMachineInstancetypeSpec | undefined,
      preference: preference.spec as VirtualMachinePreferenceSpec | undefined,
    };
  }

  /** The VM with both applied to its template, or why that is not possible. */
  expand(vm: VirtualMachine): { readonly vm: VirtualMachine } | { readonly problem: string } {
    const found = this.typesOf(vm);
    if ("problem" in found) return found;
    if (!found.instancetype && !found.preference) return { vm };
    return expanded(expandVm(vm, found.instancetype, found.preference));
  }

  /** The object that a matcher names, rather than a stored copy. */
  objectOf(vm: VirtualMachine, kind: MatcherKind): TypeObject | { readonly problem: string } {
    const matcher = at(vm, "spec", kind);
    const name = text(at(matcher, "name"));
    const scope = matcherScope(kind, text(at(matcher, "kind")));
    if (!scope) {
      return {
        problem: `spec.${kind}.kind is ${text(at(matcher, "kind"))}, which is not a kind of ${kind}`,
      };
    }
    const { instancetypes, clusterInstancetypes, preferences, clusterPreferences } =
      this.#pass.view;
    const isCluster = scope === "cluster";
    const lists = {
      instancetype: isCluster ? clusterInstancetypes : instancetypes,
      preference: isCluster ? clusterPreferences : preferences,
    };
    const namespace = text(at(vm, "metadata", "namespace"));
    const found = lists[kind]?.find((item) => {
      const place = nameOf(item);
      return place.name === name && (isCluster || (place.namespace ?? "") === namespace);
    });
    return found ?? { problem: `spec.${kind}.name is ${name}, which does not exist; create it` };
  }

  /** The stored copy of this name. */
  revision(name: string): ControllerRevision | undefined {
    return this.#pass.revisions.find((revision) => nameOf(revision).name === name);
  }

  /** A revision in the spec takes precedence; the status's counts only for the same name. */
  #specOf(vm: VirtualMachine, kind: MatcherKind): FoundSpec {
    const matcher = at(vm, "spec", kind);
    if (!isSet(matcher)) return {};
    const named = text(at(matcher, "revisionName"));
    const recorded = text(at(vm, "status", `${kind}Ref`, "controllerRevisionRef", "name"));
    const revisionName = named || recorded;
    if (revisionName) {
      const revision = this.revision(revisionName);
      if (!revision) {
        return { problem: `ControllerRevision ${revisionName} of the ${kind} does not exist` };
      }
      if (named || this.#isOf(revision, text(at(matcher, "name")))) return storedSpec(revision);
    }
    const found = this.objectOf(vm, kind);
    return "problem" in found ? found : { spec: object(found.spec) };
  }

  #isOf(revision: ControllerRevision, name: string): boolean {
    const label = this.#pass.config.names.labels.revisionObjectName;
    return entry(revision.metadata.labels, label) === name;
  }
}

function storedSpec(revision: ControllerRevision): FoundSpec {
  const spec = at(revision, "data", "spec");
  if (isSet(spec)) return { spec: object(spec) };
  return {
    problem: `ControllerRevision ${nameOf(revision).name} holds neither an instance type nor a preference`,
  };
}

function expanded(
  result: ExpandedVm,
): { readonly vm: VirtualMachine } | { readonly problem: string } {
  if (result.kind === "expanded") return { vm: result.vm };
  return { problem: result.conflicts.map(({ message }) => message).join("; ") };
}
