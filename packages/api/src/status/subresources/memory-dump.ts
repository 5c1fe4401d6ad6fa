import type { VirtualMachine, VirtualMachineInstance } from "../../schema/index.ts";
import { quote } from "../../schema/issue.ts";
import { at, isSet, text } from "../../shape.ts";
import { memoryDumpRequestOf } from "../memory-dump-request.ts";
import { isRunning, phaseOf } from "../phases.ts";
import type { Write } from "../plan.ts";
import {
  accepted,
  badRequest,
  conflict,
  notFound,
  type Refusal,
  type SubresourceOutcome,
} from "./outcome.ts";
import { nameOf } from "./state-change.ts";

/**
 * `memorydump`: dumps the guest's memory to a claim. A VM has one such claim at a time. The caller must check
 * whether the claim is writable and large enough.
 */
export function planMemoryDump(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  options: { readonly claimName?: string },
): SubresourceOutcome {
  const target = memoryDumpTarget(vm, vmi, options);
  if ("kind" in target) return target;
  const { claimName } = target;
  const present = memoryDumpRequestOf(vm);
  const refuse = (why: string): SubresourceOutcome => conflict("virtualmachine", nameOf(vm), why);
  if (present?.phase === "Dissociating") return refuse(`"${claimName}" is being removed`);
  if (present && present.phase !== "Completed" && present.phase !== "Failed") {
    return refuse(`a dump to "${claimName}" is in progress`);
  }
  return accepted([write(vm, { claimName, phase: "Associating" })]);
}

/** The claim for the dump: the requested one, or that of the last dump. */
export function memoryDumpTarget(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  options: { readonly claimName?: string },
): Refusal | { readonly claimName: string } {
  const present = memoryDumpRequestOf(vm);
  const associated = text(present?.claimName);
  const claimName = text(options.claimName) || associated;
  if (!claimName) return badRequest("claimName is missing; name the claim for the dump");
  if (present && claimName !== associated) {
    const why = `"${associated}" already receives its dumps; remove it before using "${claimName}"`;
    return conflict("virtualmachine", nameOf(vm), why);
  }
  if (!vmi) return notFound("virtualmachineinstance", nameOf(vm));
  if (isRunning(vmi)) return { claimName };
  const why = `its phase is ${quote(phaseOf(vmi))}; it must be Running`;
  return conflict("virtualmachineinstance", nameOf(vm), why);
}

/** `removememorydump`: releases the claim. */
export function planRemoveMemoryDump(vm: VirtualMachine): SubresourceOutcome {
  const present = memoryDumpRequestOf(vm);
  const refuse = (why: string): SubresourceOutcome => conflict("virtualmachine", nameOf(vm), why);
  if (!present) return refuse("it has no claim for memory dumps");
  if (present.remove) return refuse(`"${text(present.claimName)}" is being removed`);
  const claimName = text(present.claimName);
  return accepted([write(vm, { claimName, phase: "Dissociating", remove: true })]);
}

function write(vm: VirtualMachine, value: unknown): Write {
  const path = "/status/memoryDumpRequest";
  const present = at(vm, "status", "memoryDumpRequest");
  return {
    kind: "patch",
    resource: "virtualmachines",
    subresource: "status",
    name: nameOf(vm),
    patch: [
      { op: "test", path, value: present ?? null },
      { op: isSet(present) ? "replace" : "add", path, value },
    ],
  };
}
