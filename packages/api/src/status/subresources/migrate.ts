import { type Names, names } from "../../names/index.ts";
import type { VirtualMachine, VirtualMachineInstance } from "../../schema/index.ts";
import { quote } from "../../schema/issue.ts";
import { isObject, text } from "../../shape.ts";
import { isRunning, phaseOf } from "../phases.ts";
import { accepted, conflict, notFound, type SubresourceOutcome } from "./outcome.ts";
import { type DryRunOptions, dryRun, nameOf } from "./state-change.ts";

/** Body of `migrate`. */
export interface MigrateOptions extends DryRunOptions {
  /** Labels that the target node must have in addition to those that the VMI requires. */
  readonly addedNodeSelector?: Readonly<Record<string, string>>;
}

/** `migrate`: creates a migration of the VM's VMI, which must run. */
export function planMigrate(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  options: MigrateOptions = {},
  { group }: Pick<Names, "group"> = names(),
): SubresourceOutcome {
  const name = nameOf(vm);
  if (!vmi) return notFound("virtualmachineinstance", name);
  if (!isRunning(vmi))
    return conflict(
      "virtualmachine",
      name,
      `its VMI is in phase ${quote(phaseOf(vmi))}; only a running VMI can migrate`,
    );
  const { addedNodeSelector } = options;
  const object = {
    apiVersion: text(vm?.apiVersion) || `${group}/v1`,
    kind: "VirtualMachineInstanceMigration",
    metadata: { generateName: "kubevirt-migrate-vm-" },
    spec: { vmiName: name, ...(isObject(addedNodeSelector) ? { addedNodeSelector } : {}) },
  };
  return accepted([
    { kind: "create", resource: "virtualmachineinstancemigrations", object, ...dryRun(options) },
  ]);
}
