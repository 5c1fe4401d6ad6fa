import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
  VirtualMachineSchema,
} from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import { readAsGo } from "./go-form.ts";

/** The VM of a request and its VMI, if it has one. */
export interface VmAndVmi {
  readonly vm: VirtualMachine;
  readonly vmi: VirtualMachineInstance | undefined;
}

/** {@link VmAndVmi} of a request's input; a missing VM counts as empty. */
export function vmAndVmiOf(input: unknown): VmAndVmi {
  const vmi = readAsGo(at(input, "vmi"), VirtualMachineInstanceSchema);
  return {
    vm: readAsGo(at(input, "vm") ?? {}, VirtualMachineSchema) as VirtualMachine,
    vmi: vmi as VirtualMachineInstance | undefined,
  };
}
