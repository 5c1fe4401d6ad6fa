import type { CDRomTarget, Disk, DiskTarget, LunTarget } from "@virtkit/api/schema";
import { invalidVmi } from "../converter-error.ts";
import type { Draft } from "../draft.ts";
import type { DomainAddress } from "../model/address.ts";
import { userAlias } from "../model/alias.ts";
import type { DomainDisk, DomainDiskDriver } from "../model/disk.ts";
import { pciAddress } from "../placement/pci-address.ts";
import type { TargetNames } from "./target-names.ts";

/** A disk under construction: its driver exists from the start. */
export type DraftDisk = DomainDisk & { driver: DomainDiskDriver };

/** The device that the guest sees, before anything is known about its volume. */
export function diskDevice(draft: Draft, disk: Disk, path: string, names: TargetNames): DraftDisk {
  const target: DraftDisk = {
    type: "",
    device: "",
    model: undefined,
    driver: {
      name: "qemu",
      type: "",
      cache: disk.cache || undefined,
      errorPolicy: undefined,
      io: disk.io || undefined,
      discard: undefined,
      iothread: undefined,
      queues: undefined,
      iommu: undefined,
      iothreads: undefined,
    },
    source: {
      file: undefined,
      dev: undefined,
      name: undefined,
      startupPolicy: undefined,
      protocol: undefined,
      reservations: undefined,
      dataStore: undefined,
    },
    backingStore: undefined,
    blockio: undefined,
    target: { dev: undefined, bus: undefined, tray: undefined },
    readonly: undefined,
    shareable: undefined,
    serial: undefined,
    boot: undefined,
    alias: userAlias(disk.name),
    address: undefined,
    filesystemOverhead: undefined,
    capacity: undefined,
  };
  if (disk.disk) setDisk(draft, target, disk, disk.disk, path, names);
  else if (disk.lun) setLun(draft, target, disk, disk.lun, names);
  else if (disk.cdrom) setCdrom(target, disk, disk.cdrom, names);
  const order = disk.bootOrder ?? undefined;
  if (order !== undefined) target.boot = { order };
  if (target.target.bus === "virtio") target.driver.iommu = draft.iommu;
  return target;
}

function setDisk(
  { architecture, context }: Draft,
  target: DraftDisk,
  disk: Disk,
  device: DiskTarget,
  path: string,
  names: TargetNames,
): void {
  target.device = "disk";
  setTarget(target, disk.name, device.bus, names);
  if (device.pciAddress) {
    if (device.bus !== "virtio") {
      const message = `a disk on the bus "${device.bus}" has no PCI address; use virtio`;
      throw invalidVmi(`${path}.disk.pciAddress`, message);
    }
    target.address = pciAddress(device.pciAddress, `${path}.disk.pciAddress`);
  }
  if (device.bus === "virtio") {
    target.model = architecture.virtioModel(context.useVirtioTransitional === true);
  }
  if (device.readonly) target.readonly = true;
  target.serial = disk.serial || undefined;
  if (disk.shareable) setShareable(target, path);
}

/** Two guests that write to one disk must not cache it. */
function setShareable(target: DraftDisk, path: string): void {
  const cache = target.driver.cache ?? "none";
  if (cache !== "none") {
    throw invalidVmi(`${path}.cache`, `"${cache}" loses data on a shareable disk; use none`);
  }
  target.driver.cache = cache;
  target.shareable = true;
}

function setLun(
  { paths }: Draft,
  target: DraftDisk,
  disk: Disk,
  device: LunTarget,
  names: TargetNames,
): void {
  target.device = "lun";
  setTarget(target, disk.name, device.bus, names);
  if (device.readonly) target.readonly = true;
  if (!device.reservation) return;
  target.source.reservations = {
    managed: "no",
    migration: "yes",
    source: { type: "unix", path: paths.reservationSocket, mode: "client" },
  };
}

function setCdrom(target: DraftDisk, disk: Disk, device: CDRomTarget, names: TargetNames): void {
  const { dev } = names.nameOf(disk.name, device.bus);
  target.device = "cdrom";
  target.target = {
    dev: dev || undefined,
    bus: device.bus || undefined,
    tray: device.tray || undefined,
  };
  if (device.readonly !== false) target.readonly = true;
}

function setTarget(
  target: DraftDisk,
  name: string,
  bus: string | undefined,
  names: TargetNames,
): void {
  const { dev, unit } = names.nameOf(name, bus);
  target.target = { dev: dev || undefined, bus: bus || undefined, tray: undefined };
  if (bus === "scsi") target.address = scsiAddress(unit);
}

/** All SCSI disks use the single controller. */
function scsiAddress(unit: number): DomainAddress {
  return { type: "drive", bus: "0", controller: "0", unit: String(unit) };
}
