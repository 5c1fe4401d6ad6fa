import type { Configurator, Draft } from "../draft.ts";

/** The IOMMU file descriptor that the launcher hands to libvirt. */
export const iommufd: Configurator = {
  name: "iommufd",
  configure({ context, domain }: Draft): void {
    if (context.iommufdEnabled) domain.iommufd = { enabled: "yes", fdgroup: "iommu" };
  },
};
