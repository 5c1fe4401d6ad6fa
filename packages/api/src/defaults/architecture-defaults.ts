import type { ClusterConfig } from "../config/index.ts";
import type { VirtualMachineInstanceSpec } from "../schema/index.ts";

/** Defaults that depend on the architecture: amd64 (also the fallback), arm64 and s390x. */
export function architectureDefaults(
  draft: VirtualMachineInstanceSpec,
  config: ClusterConfig,
): void {
  switch (draft.architecture) {
    case "arm64":
      arm64(draft);
      break;
    case "s390x":
      diskBus(draft, "virtio");
      watchdog(draft, "diag288");
      break;
    default:
      // SATA works without drivers in the guest.
      diskBus(draft, "sata");
      watchdog(draft, "i6300esb");
  }
  draft.domain.cpu ??= {};
  const cpu = draft.domain.cpu;
  cpu.model ||= config.cpuModel || "host-model";
}

/** ACPI is off on s390x, which has none; decided before unset features are switched on. */
export function architectureFeatures({ architecture, domain }: VirtualMachineInstanceSpec): void {
  if (architecture !== "s390x") return;
  domain.features ??= {};
  const features = domain.features;
  features.acpi = { ...features.acpi, enabled: features.acpi?.enabled ?? false };
}

function arm64(draft: VirtualMachineInstanceSpec): void {
  const { domain } = draft;
  domain.cpu ??= {};
  const cpu = domain.cpu;
  cpu.model ||= "host-passthrough";
  domain.firmware ??= {};
  const firmware = domain.firmware;
  firmware.bootloader ??= { efi: {} };
  if (firmware.bootloader.efi) firmware.bootloader.efi.secureBoot ??= false;
  diskBus(draft, "virtio");
}

function diskBus({ domain }: VirtualMachineInstanceSpec, bus: "sata" | "virtio"): void {
  for (const { disk, cdrom, lun } of domain.devices.disks ?? []) {
    for (const target of [disk, cdrom, lun]) if (target) target.bus ||= bus;
  }
}

function watchdog({ domain }: VirtualMachineInstanceSpec, kind: "i6300esb" | "diag288"): void {
  const device = domain.devices.watchdog;
  if (!device) return;
  device[kind] = { ...device[kind], action: device[kind]?.action || "reset" };
}
