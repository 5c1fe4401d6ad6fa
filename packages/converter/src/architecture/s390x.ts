import { invalidVmi } from "../converter-error.ts";
import { userAlias } from "../model/alias.ts";
import type { Architecture } from "./architecture.ts";

/** Mainframes: devices on the channel subsystem; no PCI slots, USB, SMBIOS or ROMs. */
export const s390x: Architecture = {
  name: "s390x",
  osArch: "s390x",
  defaultMachine: "s390-ccw-virtio",
  hotplugsCpus: true,
  hasSmbios: false,
  hasVmport: false,
  hasBootRom: false,
  disablesMpx: false,
  hasDebugPort: false,
  disablesPciHole64: false,
  hasPcie: false,
  maxBlockSize: 4096,
  // Both transitional models are PCI devices; this one is CCW if there is no PCI.
  virtioModel: () => "virtio",
  scsiModel: () => "virtio-scsi",
  needsUsb: () => false,
  video: () => ({ model: { type: "virtio", heads: 1 } }),
  screenInputs: () => [{ type: "keyboard", bus: "virtio" }],
  watchdog(watchdog) {
    if (!watchdog.diag288) {
      const path = "spec.domain.devices.watchdog";
      throw invalidVmi(path, `"${watchdog.name}" has no type for s390x; set diag288`);
    }
    return {
      model: "diag288",
      action: watchdog.diag288.action ?? "",
      alias: userAlias(watchdog.name),
      address: undefined,
    };
  },
  // The IOMMU of its devices shows a protected guest that it is protected; libvirt's own setting needs
  // privileges.
  launchSecurity: () => undefined,
};
