import type { Configurator, Draft } from "../draft.ts";

export const rng: Configurator = {
  name: "rng",
  summary: "A source of random numbers, fed by the host.",
  configure({ devices, virtioModel, iommu, domain }: Draft): void {
    if (!devices.rng) return;
    domain.devices.rng = {
      model: virtioModel,
      backend: { model: "random", source: "/dev/urandom" },
      driver: iommu ? { iommu } : undefined,
      address: undefined,
    };
  },
};
