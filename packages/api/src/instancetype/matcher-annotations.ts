import type { ClusterConfig } from "../config/index.ts";
import type { Names } from "../names/index.ts";
import type { VirtualMachine } from "../schema/index.ts";
import { at, isSet, text } from "../shape.ts";
import { type MatcherScope, matcherScope } from "./matcher-scope.ts";

/**
 * Annotations in which a VMI names its instance type and its preference; `undefined` if the VM has neither. Unknown
 * kinds are ignored.
 */
export function matcherAnnotations(
  vm: VirtualMachine,
  { names }: Pick<ClusterConfig, "names">,
): Readonly<Record<string, string>> | undefined {
  const matchers = (["instancetype", "preference"] as const).filter((kind) =>
    isSet(at(vm, "spec", kind)),
  );
  if (matchers.length === 0) return undefined;
  const entries = matchers.flatMap((kind) => {
    const scope = matcherScope(kind, text(at(vm, "spec", kind, "kind")));
    if (!scope) return [];
    return [[annotationName(kind, scope, names), text(at(vm, "spec", kind, "name"))]];
  });
  return Object.fromEntries(entries);
}

function annotationName(
  kind: "instancetype" | "preference",
  scope: MatcherScope,
  { annotations }: Names,
): string {
  if (kind === "instancetype") {
    return scope === "cluster" ? annotations.clusterInstancetype : annotations.instancetype;
  }
  return scope === "cluster" ? annotations.clusterPreference : annotations.preference;
}
