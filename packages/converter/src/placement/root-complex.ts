import { invalidVmi } from "../converter-error.ts";
import type { Configurator, Draft } from "../draft.ts";
import { hexByte } from "./pci-address.ts";
import { pciDevices } from "./pci-devices.ts";

/** Slots that QEMU uses itself: the root, VGA, the first sound card, the SATA controller. */
const reserved = new Set([0x00, 0x01, 0x1b, 0x1f]);
const slots = 0x20;

export const rootComplex: Configurator = {
  name: "root-complex",
  summary: "Puts every PCI device on the root bus, for guests that do not support PCIe ports.",
  configure({ annotations, names, architecture, domain }: Draft): void {
    const annotation = names.annotations.placePciDevicesOnRootComplex;
    if (annotations[annotation] !== "true" || !architecture.hasPcie) return;
    let slot = -1;
    for (const device of pciDevices(domain)) {
      // An address in the VMI is kept.
      if (device.address?.domain) continue;
      do slot++;
      while (reserved.has(slot));
      if (slot >= slots) {
        const path = `metadata.annotations["${annotation}"]`;
        throw invalidVmi(path, "the root bus has no free slot; use fewer devices, or remove it");
      }
      device.address = {
        ...device.address,
        type: "pci",
        domain: "0x0000",
        bus: "0x00",
        slot: hexByte(slot),
        function: "0x0",
      };
    }
  },
};
