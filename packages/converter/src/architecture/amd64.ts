import type { Devices } from "@virtkit/api/schema";
import { amdOrIntelLaunchSecurity } from "../compute/guest-policy.ts";
import type { ConverterContext } from "../context.ts";
import { invalidVmi } from "../converter-error.ts";
import { userAlias } from "../model/alias.ts";
import type { Architecture } from "./architecture.ts";
import { pciVirtioModel } from "./pci-virtio.ts";

/** PCs: PCIe, SATA, VGA, SMBIOS, and USB only if something uses it. */
export const amd64: Architecture = {
  name: "amd64",
  osArch: "x86_64",
  defaultMachine: "q35",
  hotplugsCpus: true,
  hasSmbios: true,
  hasVmport: true,
  hasBootRom: true,
  disablesMpx: true,
  hasDebugPort: true,
  disablesPciHole64: true,
  hasPcie: true,
  maxBlockSize: Number.POSITIVE_INFINITY,
  virtioModel: pciVirtioModel,
  scsiModel: (virtioModel) => virtioModel,
  needsUsb,
  // bochs has no legacy VGA, which a BIOS needs and EFI does not.
  video: ({ firmware }, { bochsForEFIGuests }) =>
    bochsForEFIGuests && firmware?.bootloader?.efi
      ? { model: { type: "bochs", heads: 1 } }
      : { model: { type: "vga", heads: 1, vram: 16384 } },
  screenInputs: () => [],
  watchdog(watchdog) {
    if (!watchdog.i6300esb) {
      const path = "spec.domain.devices.watchdog";
      throw invalidVmi(path, `"${watchdog.name}" has no type for amd64; set i6300esb`);
    }
    return {
      model: "i6300esb",
      action: watchdog.i6300esb.action ?? "",
      alias: userAlias(watchdog.name),
      address: undefined,
    };
  },
  launchSecurity: amdOrIntelLaunchSecurity,
};

function needsUsb(devices: Devices, context: ConverterContext): boolean {
  return (
    Boolean(devices.clientPassthrough) ||
    (devices.inputs ?? []).some(({ bus }) => !bus || bus === "usb") ||
    (devices.disks ?? []).some(({ disk }) => disk?.bus === "usb") ||
    (context.genericHostDevices ?? []).some(({ Type }) => Type === "usb")
  );
}
