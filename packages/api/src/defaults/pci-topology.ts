import type { ClusterConfig } from "../config/index.ts";
import type { ObjectMeta, VirtualMachineInstanceSpec } from "../schema/index.ts";

/**
 * Records which layout of PCIe ports a new VMI gets, so that its devices keep their addresses
 * when the layout changes in a later version. VMIs without PCIe have none.
 */
export function pciTopology(
  metadata: ObjectMeta,
  spec: VirtualMachineInstanceSpec,
  { names }: ClusterConfig,
): void {
  const annotation = names.annotations.pciTopologyVersion;
  if (!hasPcie(spec) || Object.hasOwn(metadata.annotations ?? {}, annotation)) return;
  metadata.annotations = { ...metadata.annotations, [annotation]: "v3" };
}

function hasPcie({ architecture = "", domain }: VirtualMachineInstanceSpec): boolean {
  if (!["amd64", "arm64", ""].includes(architecture)) return false;
  const type = domain.machine?.type;
  return type === undefined || type.includes("q35") || type.startsWith("virt");
}
