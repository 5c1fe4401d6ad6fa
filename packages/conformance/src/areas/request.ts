import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
  VirtualMachineSchema,
} from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import { readAsGo } from "./go-form.ts";

/** The VM of a request and its VMI, if it has one. */
export interface Machines {
  readonly vm: VirtualMachine;
  readonly vmi: VirtualMachineInstance | undefined;
}

/** {@link Machines} of a request's input; a VM that is missing is an empty one. */
export function machinesOf(input: unknown): Machines {
  const vmi = readAsGo(at(input, "vmi"), VirtualMachineInstanceSchema);
  return {
    vm: readAsGo(at(input, "vm") ?? {}, VirtualMachineSchema) as VirtualMachine,
    vmi: vmi as VirtualMachineInstance | undefined,
  };
}
