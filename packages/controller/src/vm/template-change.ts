import type { VirtualMachine } from "@virtkit/api/schema";
import { isSet, type JsonObject, object } from "@virtkit/api/shape";

/** The VM with another value in the spec of its template; an empty list or `undefined` removes it. */
export function withTemplate(
  vm: VirtualMachine,
  path: readonly string[],
  value: unknown,
): VirtualMachine {
  return withValue(vm, ["spec", "template", "spec", ...path], value);
}

/** A copy of an object with another value at a path; an empty list or `undefined` removes it. */
export function withValue<T>(target: T, path: readonly string[], value: unknown): T {
  return changed(object(target), path, value) as T;
}

function changed(target: JsonObject, path: readonly string[], value: unknown): JsonObject {
  const [field = "", ...rest] = path;
  if (rest.length > 0) {
    return { ...target, [field]: changed(object(target[field]), rest, value) };
  }
  const { [field]: _, ...others } = target;
  const isNothing = !isSet(value) || (Array.isArray(value) && value.length === 0);
  return isNothing ? others : { ...target, [field]: value };
}
