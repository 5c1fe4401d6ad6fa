import { isDeepStrictEqual } from "node:util";
import { applyInstancetype } from "@virtkit/api/instancetype";
import type {
  InstancetypeStatusRef,
  VirtualMachineInstanceSpec,
  VirtualMachineInstancetypeSpec,
} from "@virtkit/api/schema";
import { at, isSet, number, object, text } from "@virtkit/api/shape";
import { controlledBy } from "@virtkit/api/status/vm";
import { nameOf, uidOf } from "../plan/object-name.ts";
import { revisionResource } from "../plan/vm-resources.ts";
import type { InstancetypeLookup, MatcherKind } from "./instancetype-lookup.ts";
import { failed, type Stop, type VmPass } from "./vm-pass.ts";
import type { ControllerRevision, TypeObject } from "./vm-view.ts";

/** Stores copies of what the VM's matchers name, once, and refers to them in the VM's status. */
export function storeRevisions(pass: VmPass, lookup: InstancetypeLookup): Stop | undefined {
  for (const kind of ["instancetype", "preference"] as const) {
    const problem = store(pass, kind, lookup);
    if (problem === undefined) continue;
    const message = `the ${kind} could not be stored for the VM: ${problem}`;
    pass.draft.event({ type: "Warning", reason: "FailedCreate", message });
    return failed("FailedCreate", message);
  }
  return undefined;
}

function store(pass: VmPass, kind: MatcherKind, lookup: InstancetypeLookup): string | undefined {
  const matcher = at(pass.vm, "spec", kind);
  if (!isSet(matcher)) return undefined;
  const before = object(at(pass.vm, "status", `${kind}Ref`)) as InstancetypeStatusRef;
  const ref = followMatcher(before, matcher);
  if (!isSet(ref.controllerRevisionRef)) {
    const stored = createRevision(pass, kind, lookup);
    if ("problem" in stored) return stored.problem;
    ref.controllerRevisionRef = { name: stored.name };
  }
  if (!isDeepStrictEqual(before, ref)) {
    pass.vm = { ...pass.vm, status: { ...pass.vm.status, [`${kind}Ref`]: ref } };
  }
  return undefined;
}

/**
 * The reference with the matcher's values; another name, kind or volume makes another stored copy.
 */
function followMatcher(before: InstancetypeStatusRef, matcher: unknown): InstancetypeStatusRef {
  const ref: InstancetypeStatusRef = { ...before };
  for (const field of ["name", "kind", "inferFromVolume"] as const) {
    const wanted = text(at(matcher, field));
    if (wanted === "" || wanted === ref[field]) continue;
    ref[field] = wanted;
    delete ref.controllerRevisionRef;
  }
  const policy = text(at(matcher, "inferFromVolumeFailurePolicy"));
  if (policy !== "") {
    ref.inferFromVolumeFailurePolicy = policy as NonNullable<
      InstancetypeStatusRef["inferFromVolumeFailurePolicy"]
    >;
  }
  const named = text(at(matcher, "revisionName"));
  if (named !== "" && named !== ref.controllerRevisionRef?.name) {
    ref.controllerRevisionRef = { name: named };
  }
  return ref;
}

function createRevision(
  pass: VmPass,
  kind: MatcherKind,
  lookup: InstancetypeLookup,
): { readonly name: string } | { readonly problem: string } {
  const found = lookup.objectOf(pass.vm, kind);
  if ("problem" in found) return found;
  const conflict = kind === "instancetype" ? conflictOf(pass, found) : undefined;
  if (conflict !== undefined) return { problem: conflict };
  const revision = revisionOf(pass, found);
  const { name } = nameOf(revision);
  const refusal = pass.draft.write({
    kind: "create",
    resource: revisionResource,
    object: revision,
  });
  if (!refusal) {
    pass.revisions = [...pass.revisions, revision];
    return { name };
  }
  if (refusal.reason !== "AlreadyExists") return { problem: refusal.message };
  // An earlier pass created it and was cut off before it recorded that.
  const present = lookup.revision(name);
  if (isDeepStrictEqual(at(present, "data", "spec"), at(revision, "data", "spec"))) return { name };
  return { problem: `ControllerRevision ${name} exists with other data; delete it` };
}

/** The instance type may have changed since the VM was admitted. */
function conflictOf({ vm }: VmPass, { spec }: TypeObject): string | undefined {
  const result = applyInstancetype({
    spec: object(at(vm, "spec", "template", "spec")) as unknown as VirtualMachineInstanceSpec,
    annotations: object(at(vm, "spec", "template", "metadata", "annotations")) as Record<
      string,
      string
    >,
    instancetype: object(spec) as unknown as VirtualMachineInstancetypeSpec,
  });
  if (result.kind === "applied") return undefined;
  const faults = result.kind === "conflicts" ? result.conflicts : [result.problem];
  return faults.map(({ message }) => message).join("; ");
}

function revisionOf({ vm, config }: VmPass, type: TypeObject): ControllerRevision {
  const { labels, annotations, finalizers, ownerReferences, managedFields, ...metadata } =
    type.metadata;
  const version = text(type.apiVersion).split("/").at(-1) ?? "";
  const { name } = nameOf(type);
  const generation = number(type.metadata.generation);
  const keys = config.names.labels;
  const { namespace, name: vmName } = nameOf(vm);
  return {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: {
      name: [vmName, name, version, uidOf(type), generation].join("-"),
      ...(namespace === undefined ? {} : { namespace }),
      ownerReferences: [controlledBy(vm, config.names)],
      labels: {
        [keys.revisionObjectGeneration]: String(generation),
        [keys.revisionObjectKind]: text(type.kind),
        [keys.revisionObjectName]: name,
        [keys.revisionObjectUid]: uidOf(type),
        [keys.revisionObjectVersion]: version,
      },
    },
    data: { apiVersion: type.apiVersion, kind: type.kind, metadata, spec: type.spec },
    revision: 0,
  };
}
