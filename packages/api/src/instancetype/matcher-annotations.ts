import type { VirtualMachine } from "../schema/index.ts";
import { at, isSet, text } from "../shape.ts";
import { matcherScope } from "./matcher-scope.ts";

/**
 * Annotations by which a VMI tells its instance type and its preference; `undefined` if the VM has
 * neither. A kind that nobody knows is passed over.
 */
export function matcherAnnotations(
  vm: VirtualMachine,
): Readonly<Record<string, string>> | undefined {
  const matchers = (["instancetype", "preference"] as const).filter((kind) =>
    isSet(at(vm, "spec", kind)),
  );
  if (matchers.length === 0) return undefined;
  const entries = matchers.flatMap((kind) => {
    const scope = matcherScope(kind, text(at(vm, "spec", kind, "kind")));
    if (!scope) return [];
    const prefix = scope === "cluster" ? "cluster-" : "";
    return [[`kubevirt.io/${prefix}${kind}-name`, text(at(vm, "spec", kind, "name"))]];
  });
  return Object.fromEntries(entries);
}
