import { invalidContext, invalidVmi } from "../converter-error.ts";
import type { Configurator, Draft } from "../draft.ts";

/** NVIDIA Grace: GPUs with an IOMMU and memory nodes of their own. */
export const grace: Configurator = {
  name: "grace",
  configure(draft: Draft): void {
    if ((draft.context.graceHostDeviceAliases ?? []).length === 0) return;
    refuseUnfit(draft);
    throw invalidContext("graceHostDeviceAliases", "not yet");
  },
};

function refuseUnfit({ spec, annotations, architecture, context }: Draft): void {
  if (!context.graceIOVirtualizationEnabled) {
    throw invalidContext("graceIOVirtualizationEnabled", "x");
  }
  if (!spec.cpu?.dedicatedCpuPlacement || !architecture.hasPcie || annotations["x"]) {
    throw invalidVmi("spec.domain.cpu.dedicatedCpuPlacement", "is needed for Grace GPUs");
  }
}
