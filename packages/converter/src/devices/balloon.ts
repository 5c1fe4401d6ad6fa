import { onOff } from "../compute/switch.ts";
import type { Configurator, Draft } from "../draft.ts";

export const balloon: Configurator = {
  name: "balloon",
  summary:
    "The memory balloon; turned off explicitly if it is not wanted, because libvirt adds one otherwise.",
  configure({ devices, context, virtioModel, iommu, domain }: Draft): void {
    if (devices.autoattachMemBalloon === false) {
      domain.devices.memballoon = { model: "none" };
      return;
    }
    const period = context.memBalloonStatsPeriod;
    domain.devices.memballoon = {
      model: virtioModel,
      freePageReporting: onOff(context.freePageReporting, false),
      stats: period ? { period } : undefined,
      driver: iommu ? { iommu } : undefined,
      address: undefined,
    };
  },
};
