import type { ClusterConfig } from "@virtkit/api/config";
import { defaultVirtualMachineInstance } from "@virtkit/api/defaults";
import {
  checkObject,
  type Path,
  type VirtualMachine,
  type VirtualMachineInstance,
} from "@virtkit/api/schema";
import { vmiFromVm } from "@virtkit/api/status";
import type { ManifestDocument } from "@virtkit/node-agent/manifests";

/** A VMI that can have a Pod, or what is wrong with the object. */
export type ReadVmi =
  | { readonly vmi: VirtualMachineInstance }
  | { readonly faults: readonly { readonly path: Path; readonly message: string }[] };

/** Whether an object is a VMI or becomes one; others are skipped. */
export function describesVmi({ value }: ManifestDocument): boolean {
  const { kind } = Object(value) as { kind?: unknown };
  return kind === "VirtualMachine" || kind === "VirtualMachineInstance";
}

/**
 * The VMI that an object describes, as admission would store it. A VirtualMachine, to which its instance type
 * was applied, counts as the VMI that it would start. A VMI with a phase has been admitted and is used
 * unchanged; others get their defaults, and the namespace `default` if they have none. Throws the `ApiError` of
 * defaults that cannot be set.
 */
export function readVmi({ value }: ManifestDocument, config: ClusterConfig): ReadVmi {
  const { issues } = checkObject(value, { group: config.names.group });
  if (issues.length > 0) return { faults: issues };
  const { kind } = value as { kind: string };
  const read =
    kind === "VirtualMachine"
      ? started(value as VirtualMachine, config)
      : { vmi: value as VirtualMachineInstance };
  return "vmi" in read ? { vmi: admitted(read.vmi, config) } : read;
}

function started(vm: VirtualMachine, config: ClusterConfig): ReadVmi {
  const made = vmiFromVm(vm, "", { config });
  if (!("refused" in made)) return made;
  return { faults: [{ path: ["spec", "template"], message: made.refused }] };
}

function admitted(vmi: VirtualMachineInstance, config: ClusterConfig): VirtualMachineInstance {
  const metadata = { ...vmi.metadata, namespace: vmi.metadata?.namespace ?? "default" };
  const placed = { ...vmi, metadata };
  return vmi.status?.phase ? placed : defaultVirtualMachineInstance(placed, config);
}
