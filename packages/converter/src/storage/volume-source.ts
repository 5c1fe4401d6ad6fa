import type { Volume } from "@virtkit/api/schema";
import { invalidContext, invalidVmi } from "../converter-error.ts";
import type { Draft } from "../draft.ts";
import { blockDevice, type LauncherPaths } from "../launcher-paths.ts";
import type { DomainBackingStore, DomainDiskSource } from "../model/disk.ts";
import type { DraftDisk } from "./disk-device.ts";

/** Connects a disk to its volume. `index` is the volume's position in the VMI. */
export function connectVolume(draft: Draft, disk: DraftDisk, volume: Volume, index: number): void {
  const name = volume.name ?? "";
  const { paths } = draft;
  if (volume.containerDisk) connectContainerDisk(draft, disk, name, index);
  else if (volume.cloudInitNoCloud) connectCloudInit(draft, disk, "noCloud.iso");
  else if (volume.cloudInitConfigDrive) connectCloudInit(draft, disk, "configdrive.iso");
  else if (volume.sysprep) connectFile(disk, "raw", paths.generatedIso("sysprep", name));
  else if (volume.hostDisk) connectHostDisk(draft, disk, name, volume.hostDisk.path ?? "");
  else if (volume.persistentVolumeClaim)
    connectClaim(draft, disk, name, isBlock(draft, "isBlockPVC", name));
  else if (volume.dataVolume) connectClaim(draft, disk, name, isBlock(draft, "isBlockDV", name));
  else if (volume.ephemeral) connectEphemeral(draft, disk, name);
  else if (volume.emptyDisk) connectDiscarding(disk, "qcow2", paths.emptyDisk(name));
  else if (!connectGenerated(draft, disk, volume)) throw unsupported(name, index);
}

/** Connects a disk to a volume that was plugged into the running Pod. */
export function connectHotplugVolume(
  draft: Draft,
  disk: DraftDisk,
  volume: Volume,
  index: number,
): void {
  const name = volume.name ?? "";
  // The node agent turns claims into host disks before the launcher sees them.
  if (volume.hostDisk || volume.persistentVolumeClaim) {
    connectHotplugClaim(draft, disk, name, isBlock(draft, "isBlockPVC", name));
  } else if (volume.dataVolume) {
    connectHotplugClaim(draft, disk, name, isBlock(draft, "isBlockDV", name));
  } else {
    throw unsupported(name, index);
  }
}

/** A CD-ROM drive without a medium. */
export function connectNothing(disk: DraftDisk): void {
  disk.type = "block";
  disk.driver.type = "raw";
  disk.driver.discard = "unmap";
}

function connectGenerated(
  { architecture, paths, context }: Draft,
  disk: DraftDisk,
  volume: Volume,
): boolean {
  const name = volume.name ?? "";
  if (volume.configMap) connectFile(disk, "raw", paths.generatedIso("config-map", name));
  else if (volume.secret) connectFile(disk, "raw", paths.generatedIso("secret", name));
  else if (volume.downwardAPI) connectFile(disk, "raw", paths.generatedIso("downwardapi", name));
  else if (volume.serviceAccount) connectFile(disk, "raw", paths.serviceAccountIso);
  else if (volume.downwardMetrics) {
    disk.driver = { name: "qemu", type: "" };
    disk.readonly = true;
    disk.model = architecture.virtioModel(context.useVirtioTransitional === true);
    disk.source = {};
    connectFile(disk, "raw", paths.downwardMetricsDisk);
  } else return false;
  return true;
}

function connectFile(disk: DraftDisk, format: string, file: string): void {
  disk.type = "file";
  disk.driver.type = format;
  disk.source.file = file;
}

/** A file that grows as it is written, so that it is worth giving back freed space. */
function connectDiscarding(disk: DraftDisk, format: string, file: string): void {
  connectFile(disk, format, file);
  disk.driver.discard = "unmap";
}

function connectCloudInit({ vmi, paths, context }: Draft, disk: DraftDisk, file: string): void {
  const { ephemeralDiskDir } = context;
  const iso = paths.guestDataFile(ephemeralDiskDir, "cloud-init-data", vmi.metadata ?? {}, file);
  connectFile(disk, "raw", iso);
}

function connectHostDisk(
  { paths, context }: Draft,
  disk: DraftDisk,
  volume: string,
  path: string,
): void {
  const image = paths.hostDiskImage(volume, path);
  const overlays = context.applyCBT ?? {};
  if (Object.hasOwn(overlays, volume)) {
    connectOverlay(disk, overlays[volume] ?? "", "file", { file: image });
  } else {
    connectFile(disk, "raw", image);
  }
}

function connectClaim(
  { paths, context }: Draft,
  disk: DraftDisk,
  volume: string,
  block: boolean,
): void {
  if (!context.volumesDiscardIgnore?.includes(volume)) disk.driver.discard = "unmap";
  const overlay = context.applyCBT?.[volume];
  if (overlay) {
    connectOverlay(disk, overlay, block ? "block" : "file", plainSource(paths, volume, block));
    if (block) disk.source.name = volume;
    return;
  }
  disk.type = block ? "block" : "file";
  disk.driver.type = "raw";
  Object.assign(disk.source, plainSource(paths, volume, block));
  if (block) disk.source.name = volume;
}

function connectHotplugClaim(
  { paths, context }: Draft,
  disk: DraftDisk,
  volume: string,
  block: boolean,
): void {
  if (!context.volumesDiscardIgnore?.includes(volume)) disk.driver.discard = "unmap";
  const source: DomainDiskSource = block
    ? { dev: paths.hotplugBlockDevice(volume) }
    : { file: paths.hotplugImage(volume) };
  const overlay = context.applyCBT?.[volume];
  if (overlay) {
    connectOverlay(disk, overlay, block ? "block" : "file", source);
    return;
  }
  disk.type = block ? "block" : "file";
  disk.driver.type = "raw";
  Object.assign(disk.source, source);
}

function plainSource(paths: LauncherPaths, volume: string, block: boolean): DomainDiskSource {
  return block ? { dev: blockDevice(volume) } : { file: paths.filesystemImage(volume) };
}

/** A qcow2 file that records which blocks have changed, over the raw data. */
function connectOverlay(
  disk: DraftDisk,
  overlay: string,
  type: "block" | "file",
  source: DomainDiskSource,
): void {
  connectFile(disk, "qcow2", overlay || "");
  disk.source.file = overlay || undefined;
  disk.source.dataStore = { type, format: { type: "raw" }, source };
}

function connectContainerDisk(draft: Draft, disk: DraftDisk, volume: string, index: number): void {
  const info = draft.context.disksInfo?.[volume];
  if (!info) {
    const message = `the image of the container disk "${volume}" is unknown, but its format is needed`;
    throw invalidContext(`disksInfo.${volume}`, message);
  }
  connectEphemeralOverlay(draft, disk, volume, {
    type: "file",
    format: { type: info.format ?? "" },
    source: { file: draft.paths.containerDiskImage(index) },
  });
}

function connectEphemeral(draft: Draft, disk: DraftDisk, volume: string): void {
  const block = isBlock(draft, "isBlockPVC", volume);
  const { paths } = draft;
  connectEphemeralOverlay(draft, disk, volume, {
    type: block ? "block" : "file",
    format: { type: "raw" },
    source: { ...plainSource(paths, volume, block), ...(block && { name: volume }) },
  });
}

/** The guest's writes go to a file that is deleted with it. */
function connectEphemeralOverlay(
  { paths, context }: Draft,
  disk: DraftDisk,
  volume: string,
  backing: DomainBackingStore,
): void {
  connectDiscarding(disk, "qcow2", paths.ephemeralOverlay(context.ephemeralDiskDir, volume));
  disk.backingStore = backing;
}

function isBlock({ context }: Draft, map: "isBlockPVC" | "isBlockDV", volume: string): boolean {
  return context[map]?.[volume] === true;
}

function unsupported(volume: string, index: number): Error {
  const message = `the source of the volume "${volume}" cannot be a disk; use another, or share it as a file system`;
  return invalidVmi(`spec.volumes[${index}]`, message);
}
