import { invalidVmi } from "../converter-error.ts";
import type { DomainInput } from "../model/display-device.ts";
import type { Architecture } from "./architecture.ts";
import { pciVirtioModel } from "./pci-virtio.ts";

const keyboard: DomainInput = { type: "keyboard", bus: "usb" };
const tablet: DomainInput = { type: "tablet", bus: "usb" };

/** The `virt` machine: PCIe, always USB, a virtio display, no PC legacy. */
export const arm64: Architecture = {
  name: "arm64",
  osArch: "aarch64",
  defaultMachine: "virt",
  hotplugsCpus: false,
  hasSmbios: true,
  hasVmport: false,
  hasBootRom: true,
  disablesMpx: false,
  hasDebugPort: false,
  disablesPciHole64: false,
  hasPcie: true,
  maxBlockSize: Number.POSITIVE_INFINITY,
  virtioModel: pciVirtioModel,
  scsiModel: (virtioModel) => virtioModel,
  needsUsb: () => true,
  video: () => ({ model: { type: "virtio", heads: 1 } }),
  screenInputs: (inputs) =>
    inputs.some(({ type }) => type === "tablet")
      ? [{ ...keyboard }]
      : [{ ...tablet }, { ...keyboard }],
  watchdog() {
    throw invalidVmi("spec.domain.devices.watchdog", "is not supported on arm64; remove it");
  },
  launchSecurity: () => undefined,
};
