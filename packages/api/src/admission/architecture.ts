import type { Disk, VirtualMachineInstanceSpec, Watchdog } from "../schema/index.ts";
import { type Cause, each, fine, invalid, join, notSupported, oneOf, quote } from "./cause.ts";

/**
 * What an architecture supports. Checked on a VirtualMachineInstance only, when the architecture is settled.
 */
export function architecture(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const field = `${at}.domain.devices`;
  switch (spec.architecture) {
    case "amd64":
      return join(
        watchdog(spec, field, "i6300esb"),
        videoType(spec, field, ["vga", "cirrus", "virtio", "ramfb", "bochs"]),
      );
    case "s390x":
      return join(watchdog(spec, field, "diag288"), videoType(spec, field, ["virtio"]));
    case "arm64":
      return arm64(spec, at);
    default:
      return invalid(
        `${at}.architecture`,
        `is ${quote(spec.architecture ?? "")}; use amd64, arm64 or s390x`,
      );
  }
}

function watchdog(
  { domain, architecture: name }: VirtualMachineInstanceSpec,
  field: string,
  kind: "i6300esb" | "diag288",
): readonly Cause[] {
  const device: Watchdog | undefined = domain.devices.watchdog;
  const other = kind === "i6300esb" ? "diag288" : "i6300esb";
  if (!device || (device[kind] && !device[other])) return fine;
  return notSupported(`${field}.watchdog`, `must be ${kind} and nothing else on ${name}`);
}

function videoType(
  { domain, architecture: name }: VirtualMachineInstanceSpec,
  field: string,
  types: readonly string[],
): readonly Cause[] {
  const video = domain.devices.video;
  if (!video || types.includes(video.type ?? "")) return fine;
  return notSupported(
    `${field}.video.type`,
    `is ${quote(video.type ?? "")}; ${name} has ${oneOf(types)}`,
  );
}

function arm64(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const { firmware, cpu, devices } = spec.domain;
  const field = `${at}.domain`;
  const none = "is not supported on arm64; remove it";
  return join(
    firmware?.bootloader?.bios
      ? notSupported(`${field}.firmware.bootloader.bios`, "is not supported on arm64; use efi")
      : fine,
    cpu?.model && cpu.model !== "host-passthrough"
      ? notSupported(
          `${field}.cpu.model`,
          `is ${quote(cpu.model)}; arm64 only supports host-passthrough`,
        )
      : fine,
    each(devices.disks, (disk, i) => arm64Bus(disk, `${field}.devices.disks[${i}]`)),
    devices.watchdog ? notSupported(`${field}.devices.watchdog`, none) : fine,
    devices.sound ? notSupported(`${field}.devices.sound`, none) : fine,
    videoType(spec, `${field}.devices`, ["virtio", "ramfb"]),
  );
}

function arm64Bus(disk: Disk, field: string): readonly Cause[] {
  return (["disk", "cdrom", "lun"] as const).flatMap((target) => {
    const bus = disk[target]?.bus;
    if (!bus || bus === "virtio" || bus === "scsi") return fine;
    return notSupported(
      `${field}.${target}.bus`,
      `is ${quote(bus)}; arm64 only supports virtio and scsi`,
    );
  });
}
