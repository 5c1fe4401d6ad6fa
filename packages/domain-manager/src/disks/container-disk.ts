import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { DiskError } from "./disk-error.ts";
import { DiskPaths, lastPart } from "./disk-paths.ts";
import { handlePath, RootedDirectory } from "./files/rooted-directory.ts";
import { inStep } from "./files/write-image.ts";
import { guardVmi } from "./guard-vmi.ts";
import type { ImageInfo } from "./image/image-info.ts";
import { imageInfoOf } from "./image/read-image-info.ts";

/** Where an image without a path has its disk. */
const defaultDirectory = "/disk";

/** A disk in a container's image. */
export interface ContainerDiskImage {
  /** Path below the container's root, after links. */
  readonly path: string;
  readonly info: ImageInfo;
}

/**
 * Finds the disk in a container's root file system: the file at `path`, or the only file in
 * `/disk`. The file system is not trusted: links are resolved inside it, and only a regular file
 * with a raw or a self-contained qcow2 image is accepted.
 *
 * @throws DiskError if there is none, more than one, or it is refused.
 */
export async function findContainerDisk(root: string, path?: string): Promise<ContainerDiskImage> {
  await using container = await RootedDirectory.open(root);
  const place = path || `${defaultDirectory}/${await onlyFile(container)}`;
  const found = await container.findFile(place);
  try {
    const info = await inStep("read", `${root}${place}`, async () => {
      const file = await open(handlePath(found.handle), constants.O_RDONLY);
      try {
        return await imageInfoOf(file, `${root}${place}`);
      } finally {
        await file.close();
      }
    });
    return { path: `/${found.parts.join("/")}`, info };
  } finally {
    await found.handle.close();
  }
}

async function onlyFile(container: RootedDirectory): Promise<string> {
  const names = (await container.list(defaultDirectory, 1000)) ?? [];
  const [name] = names;
  if (name !== undefined && names.length === 1) return name;
  const what = names.length === 0 ? "no file" : "more than one file";
  throw new DiskError(
    "DISK_SOURCE_MISSING",
    `${container.path}${defaultDirectory}: ${what}; put one disk there, or name it in containerDisk.path`,
    { path: defaultDirectory },
  );
}

/** A kernel or initial RAM disk to mount for the guest. */
export interface KernelBootFile {
  readonly artifact: "kernel" | "initrd";
  /** Path in the container's image. */
  readonly source: string;
  /** Where the domain expects it. */
  readonly target: string;
}

/**
 * The files of a kernel boot container; empty if the VMI has none.
 *
 * @throws DiskError if both have the same name, because they are mounted beside each other, or if a
 * path names no file.
 */
export function kernelBootFiles(
  vmi: VirtualMachineInstance,
  paths: DiskPaths = new DiskPaths(),
): readonly KernelBootFile[] {
  return guardVmi(vmi, () => bootFiles(vmi, paths));
}

function bootFiles({ spec }: VirtualMachineInstance, paths: DiskPaths): KernelBootFile[] {
  const { kernelPath, initrdPath } = spec.domain.firmware?.kernelBoot?.container ?? {};
  const field = "spec.domain.firmware.kernelBoot.container";
  if (kernelPath && initrdPath && lastPart(kernelPath) === lastPart(initrdPath)) {
    const path = `${field}.initrdPath`;
    const message = `${path}: the kernel's file has the same name; rename one of them in the image`;
    throw new DiskError("DISK_VMI_INVALID", message, { path });
  }
  const file = (artifact: "kernel" | "initrd", source: string | undefined): KernelBootFile[] =>
    source ? [{ artifact, source, target: paths.kernelBoot(source) }] : [];
  return [...file("kernel", kernelPath), ...file("initrd", initrdPath)];
}

/**
 * Finds a kernel boot file in the container's root file system, as {@link findContainerDisk} does, and
 * returns its path there after links.
 */
export async function findKernelBootFile(
  root: string,
  { source }: KernelBootFile,
): Promise<string> {
  await using container = await RootedDirectory.open(root);
  const found = await container.findFile(source);
  await found.handle.close();
  return `/${found.parts.join("/")}`;
}
