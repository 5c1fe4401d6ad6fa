import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
  VirtualMachineSchema,
} from "@virtkit/api/schema";
import { readAsGo } from "./go-form.ts";

/** The value behind a path of fields of a request, or undefined where the path ends early. */
export function nested(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) {
      return undefined;
    }
    current = (current as Record<string, unknown>)[key];
  }
  return current ?? undefined;
}

/** The objects in a list of a request; none if it is no list. */
export function listAt<T>(value: unknown, ...path: readonly string[]): readonly T[] {
  const list = nested(value, ...path);
  return Array.isArray(list)
    ? list.filter((item) => typeof item === "object" && item !== null)
    : [];
}

/** The VM of a request and its VMI, if it has one. */
export interface Machines {
  readonly vm: VirtualMachine;
  readonly vmi: VirtualMachineInstance | undefined;
}

/** {@link Machines} of a request's input; a VM that is missing is an empty one. */
export function machinesOf(input: unknown): Machines {
  const vmi = readAsGo(nested(input, "vmi"), VirtualMachineInstanceSchema);
  return {
    vm: readAsGo(nested(input, "vm") ?? {}, VirtualMachineSchema) as VirtualMachine,
    vmi: vmi as VirtualMachineInstance | undefined,
  };
}
