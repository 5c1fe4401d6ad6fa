import { clusterConfig } from "@virtkit/api/config";
import { expandVm, matcherAnnotations, matcherScope } from "@virtkit/api/instancetype";
import {
  checkObject,
  type Path,
  type VirtualMachine,
  type VirtualMachineInstancetypeSpec,
  type VirtualMachinePreferenceSpec,
} from "@virtkit/api/schema";
import type { ManifestDocument } from "@virtkit/node-agent/manifests";
import { complaint } from "./complaint.ts";
import { fieldPath } from "./field-path.ts";

/** A document with its instance type and preference applied to its template, or the lines that say why not. */
export type Applied =
  | { readonly document: ManifestDocument }
  | { readonly complaints: readonly string[] };

const matchers = ["instancetype", "preference"] as const;
type Matcher = (typeof matchers)[number];

/** Whether an object is an instance type or a preference, of the cluster or of a namespace. */
export function isInstancetype({ value }: ManifestDocument): boolean {
  const { kind } = Object(value) as { kind?: unknown };
  return matchers.some((matcher) => String(kind).toLowerCase().endsWith(matcher));
}

/**
 * Applies the instance type and the preference of a VirtualMachine to its template; both are looked up in the
 * same manifests. Without the type the template describes only half of the VM. Other documents are returned
 * unchanged.
 */
export function applyInstancetypes(
  document: ManifestDocument,
  manifests: readonly ManifestDocument[],
): Applied {
  const vm = Object(document.value) as Partial<VirtualMachine> & { kind?: unknown };
  const spec = Object(vm.spec) as Partial<VirtualMachine["spec"]>;
  const named = vm.kind === "VirtualMachine" && (spec.instancetype || spec.preference);
  if (!named) return { document };
  const faults = checkObject(vm).issues.map(({ path, message }) =>
    complaint(document, path, message),
  );
  if (faults.length > 0) return { complaints: faults };
  const given = { instancetype: undefined, preference: undefined } as Record<Matcher, unknown>;
  const complaints: string[] = [];
  for (const matcher of matchers) {
    const found = specOf(vm as VirtualMachine, matcher, manifests);
    if ("spec" in found) given[matcher] = found.spec;
    else complaints.push(complaint(found.document ?? document, found.path, found.message));
  }
  if (complaints.length > 0) return { complaints };
  const expanded = expandVm(
    vm as VirtualMachine,
    given.instancetype as VirtualMachineInstancetypeSpec | undefined,
    given.preference as VirtualMachinePreferenceSpec | undefined,
  );
  if (expanded.kind === "refused") {
    return {
      complaints: expanded.conflicts.map(({ field, message }) =>
        complaint(document, fieldPath(field), message),
      ),
    };
  }
  const { instancetype: _, preference: __, template, ...rest } = expanded.vm.spec;
  const { metadata } = template;
  const annotations = {
    ...metadata?.annotations,
    ...matcherAnnotations(vm as VirtualMachine, clusterConfig()),
  };
  const made = { ...rest, template: { ...template, metadata: { ...metadata, annotations } } };
  return { document: { ...document, value: { ...expanded.vm, spec: made } } };
}

type Found =
  | { readonly spec: unknown }
  | { readonly document?: ManifestDocument; readonly path: Path; readonly message: string };

function specOf(
  { metadata, spec }: VirtualMachine,
  matcher: Matcher,
  manifests: readonly ManifestDocument[],
): Found {
  const wanted = spec[matcher];
  if (!wanted) return { spec: undefined };
  const at = `spec.${matcher}`;
  const path = ["spec", matcher];
  if (!wanted.name) {
    return { path, message: `${at} has no name; name it, and pass its file with -f` };
  }
  const scope = matcherScope(matcher, wanted.kind ?? "");
  if (!scope) {
    const message = `${at}.kind is ${JSON.stringify(wanted.kind).slice(0, 80)}, which is not a kind of ${matcher}`;
    return { path: [...path, "kind"], message };
  }
  const document = manifests.find(({ value }) => {
    const { kind, metadata: meta } = Object(value) as { kind?: unknown; metadata?: unknown };
    const { name, namespace = "default" } = Object(meta) as { name?: unknown; namespace?: unknown };
    const isHere = scope === "cluster" || namespace === (metadata?.namespace ?? "default");
    return isHere && name === wanted.name && isOfScope(kind, matcher, scope);
  });
  if (!document) {
    const place = scope === "cluster" ? "the cluster" : "the VM's namespace";
    const message = `${at} names "${wanted.name}" of ${place}, which is not in the files; pass it with -f, or pass the VMI`;
    return { path, message };
  }
  const [issue] = checkObject(document.value).issues;
  if (issue) return { document, path: issue.path, message: issue.message };
  return { spec: (document.value as { spec?: unknown }).spec };
}

function isOfScope(kind: unknown, matcher: Matcher, scope: string): boolean {
  return typeof kind === "string" && kind !== "" && matcherScope(matcher, kind) === scope;
}
