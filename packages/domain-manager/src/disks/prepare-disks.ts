import type { Names } from "@virtkit/api/names";
import { names as wellKnownNames } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { CloudInitData } from "./cloud-init/cloud-init-data.ts";
import { cloudInitMedia } from "./cloud-init/cloud-init-media.ts";
import type { DeviceMetadata } from "./cloud-init/device-metadata.ts";
import { DiskError } from "./disk-error.ts";
import { DiskPaths } from "./disk-paths.ts";
import { readVolume } from "./files/read-volume.ts";
import { type WriteOptions, writeImage, writeImageOnce } from "./files/write-image.ts";
import { qcow2Image } from "./image/qcow2-image.ts";
import { readImageInfo } from "./image/read-image-info.ts";
import { type IsoOptions, isoImage } from "./iso/iso-image.ts";
import { metricsDisk } from "./metrics-disk.ts";
import type { DiskStep } from "./plan-disks.ts";

/** Options of {@link prepareDisks}. */
export interface PrepareOptions extends IsoOptions {
  /** Owner of the created files. Default: the process's own user. */
  readonly owner?: WriteOptions["owner"];
  readonly signal?: AbortSignal | undefined;
}

/**
 * Creates the disks of a plan, one after the other. Safe to repeat: existing overlays and empty disks hold
 * the guest's data and are kept, everything else is created again. Each disk appears completely or not at
 * all; when one fails, the earlier ones stay.
 *
 * @throws DiskError of the first step that fails.
 */
export async function prepareDisks(
  steps: readonly DiskStep[],
  options: PrepareOptions = {},
): Promise<void> {
  for (const step of steps) {
    if (options.signal?.aborted) {
      const message = `${step.path}: not created, because the caller gave up`;
      throw new DiskError("DISK_ABORTED", message, {
        path: step.path,
        cause: options.signal.reason,
      });
    }
    await prepareDisk(step, options);
  }
}

async function prepareDisk(
  step: DiskStep,
  { owner, signal, ...iso }: PrepareOptions,
): Promise<void> {
  const write = { owner, signal };
  switch (step.kind) {
    case "media":
      return await writeImage(step.path, isoImage(await mountedMedia(step, iso), iso), write);
    case "blank":
      return await writeImage(step.path, { size: step.size, extents: [] }, write);
    case "ignition": {
      const bytes = step.content.reveal();
      return await writeImage(
        step.path,
        { size: bytes.length, extents: [{ offset: 0, bytes }] },
        write,
      );
    }
    case "metrics":
      return await writeImage(step.path, metricsDisk(), { ...write, mode: 0o644 });
    case "empty":
      await writeImageOnce(step.path, () => qcow2Image(step.size), write);
      return;
    case "overlay":
      await writeImageOnce(step.path, async () => await overlay(step), write);
      return;
    default:
      step satisfies never;
  }
}

async function mountedMedia(
  { volume, source, label, needs }: Extract<DiskStep, { kind: "media" }>,
  limits: IsoOptions,
) {
  const files = await readVolume(source, limits);
  if (!files) {
    const message = `volume "${volume}": nothing is mounted at ${source}; check whether the object exists`;
    throw new DiskError("DISK_SOURCE_MISSING", message, { path: source });
  }
  if (needs && !files.some(({ path }) => needs.includes(path.toLowerCase()))) {
    const message = `volume "${volume}": none of its files is ${needs.join(" or ")}; Windows needs one`;
    throw new DiskError("DISK_SOURCE_MISSING", message, { path: source });
  }
  return { label, files };
}

async function overlay({ backing, format }: Extract<DiskStep, { kind: "overlay" }>) {
  const info = await readImageInfo(backing, format ? { format } : {});
  return qcow2Image(info.virtualSize, { path: backing, format: info.format });
}

/** Options of {@link writeCloudInit}. */
export interface WriteCloudInitOptions extends PrepareOptions {
  readonly names?: Names;
  /** Devices with tags; an empty list is left out of the metadata. */
  readonly devices?: readonly DeviceMetadata[];
  /** Write this many zeros instead, for the target of a migration. */
  readonly blankSize?: number;
}

/** Writes a guest's cloud-init medium where the domain expects it, and returns its path. */
export async function writeCloudInit(
  vmi: VirtualMachineInstance,
  data: CloudInitData,
  {
    names = wellKnownNames(),
    devices = [],
    blankSize,
    owner,
    signal,
    ...iso
  }: WriteCloudInitOptions = {},
): Promise<string> {
  const path = new DiskPaths(names.directories).cloudInit(vmi, data.source);
  const found = devices.length > 0 ? { devices } : {};
  const image =
    blankSize === undefined
      ? isoImage(cloudInitMedia(vmi, data, found), iso)
      : { size: blankSize, extents: [] };
  await writeImage(path, image, { owner, signal });
  return path;
}
