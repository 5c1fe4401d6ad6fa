import type { Configurator, Draft } from "../draft.ts";

export const iommufd: Configurator = {
  name: "iommufd",
  summary: "The IOMMU file descriptor that the launcher passes to libvirt.",
  configure({ context, domain }: Draft): void {
    if (context.iommufdEnabled) domain.iommufd = { enabled: "yes", fdgroup: "iommu" };
  },
};
