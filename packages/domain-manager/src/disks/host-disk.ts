import { constants } from "node:fs";
import { lstat, open, rm, statfs } from "node:fs/promises";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { DiskError } from "./disk-error.ts";
import { DiskPaths, lastPart } from "./disk-paths.ts";
import { handlePath, RootedDirectory } from "./files/rooted-directory.ts";
import { exclusively, type FileOwner, inStep, setOwner } from "./files/write-image.ts";
import { guardVmi } from "./guard-vmi.ts";
import { wholeMebibytes } from "./plan-disks.ts";

/** A raw image that must exist before the guest starts. */
export interface HostDiskStep {
  readonly volume: string;
  /** Directory as the launcher sees it. */
  readonly directory: string;
  readonly file: string;
  readonly size: bigint;
}

/**
 * The host disks of a VMI that may be created; QEMU itself finds those that must already exist.
 * Claims with a file system are host disks too, once `withHostDisks` of the converter has run.
 *
 * @throws DiskError if a path names no file, or a capacity is under 1 MiB.
 */
export function planHostDisks(
  vmi: VirtualMachineInstance,
  paths: DiskPaths = new DiskPaths(),
): readonly HostDiskStep[] {
  return guardVmi(vmi, () => hostDisks(vmi, paths));
}

function hostDisks({ spec }: VirtualMachineInstance, paths: DiskPaths): HostDiskStep[] {
  return (spec.volumes ?? []).flatMap(({ name: volume, hostDisk }, at) => {
    if (hostDisk?.type !== "DiskOrCreate" || !hostDisk.path) return [];
    const field = `spec.volumes[${at}].hostDisk`;
    const file = lastPart(hostDisk.path);
    if (file === "" || file === "." || file === "..") {
      const path = `${field}.path`;
      throw new DiskError("DISK_VMI_INVALID", `${path}: must end in the name of a file`, { path });
    }
    const size = wholeMebibytes(hostDisk.capacity, `${field}.capacity`);
    return [{ volume, directory: paths.hostDiskDirectory(volume), file, size }];
  });
}

/** The size to create, from the request and the available space. */
export type HostDiskSize =
  | { readonly kind: "fits"; readonly size: bigint }
  /** Less than requested, but tolerated; worth an event. */
  | { readonly kind: "shrunk"; readonly size: bigint }
  | { readonly kind: "too-small"; readonly needed: bigint };

const mebibyte = 1n << 20n;

/**
 * Chooses the size of a host disk, in whole MiB; up to `tolerancePercent` less than requested is
 * accepted.
 */
export function hostDiskSize(
  wished: bigint,
  available: bigint,
  tolerancePercent: number,
): HostDiskSize {
  if (wished <= available) return { kind: "fits", size: wished };
  const size = available - (available % mebibyte);
  const needed =
    (wished * BigInt(100 - Math.min(100, Math.max(0, Math.trunc(tolerancePercent))))) / 100n;
  return needed > available || size <= 0n
    ? { kind: "too-small", needed }
    : { kind: "shrunk", size };
}

/** Options of {@link createHostDisk}. */
export interface HostDiskOptions {
  /** Root of the Pod's file system. Default `/`: the caller is in the Pod. */
  readonly root?: string;
  readonly owner?: FileOwner | undefined;
  /** Accepted shortage of space. Default 10, as in KubeVirt. */
  readonly tolerancePercent?: number;
  /** Space to leave free, in bytes. Default 128 KiB, as in KubeVirt. */
  readonly reserve?: bigint;
}

/**
 * Creates a sparse raw image unless one exists. An empty file of the owner counts as missing: a
 * killed process leaves such a file. Directories of the Pod are resolved inside its root; the file
 * is never reached through a link. Only a file that was created here gets an owner and a mode.
 *
 * Returns what was created; undefined if the disk existed.
 *
 * @throws DiskError `DISK_FULL` if there is too little space, `DISK_TARGET_REFUSED` if something
 * other than a regular file is there, or an empty file of someone else.
 */
export async function createHostDisk(
  { directory, file, size }: HostDiskStep,
  { root = "/", owner, tolerancePercent = 10, reserve = 131_072n }: HostDiskOptions = {},
): Promise<Extract<HostDiskSize, { kind: "fits" | "shrunk" }> | undefined> {
  await using pod = await RootedDirectory.open(root);
  const place = `${directory}/${file}`;
  const parent = await pod.find(directory);
  if (!parent) {
    const message = `${directory}: not mounted in the Pod`;
    throw new DiskError("DISK_SOURCE_MISSING", message, { path: directory });
  }
  try {
    const target = handlePath(parent.handle, file);
    return await inStep("make", place, async () => {
      const { bavail, bsize } = await statfs(handlePath(parent.handle), { bigint: true });
      const choice = hostDiskSize(size, bavail * bsize - reserve, tolerancePercent);
      return await makeRaw(target, place, choice, owner);
    });
  } finally {
    await parent.handle.close();
  }
}

const mode = 0o660;

async function makeRaw(
  target: string,
  place: string,
  choice: HostDiskSize,
  owner: FileOwner | undefined,
): Promise<Extract<HostDiskSize, { kind: "fits" | "shrunk" }> | undefined> {
  const existing = await openExisting(target, place, owner);
  if (existing === "made") return undefined;
  if (choice.kind === "too-small") {
    if (existing !== "absent") await existing.close();
    const message = `${place}: too little space; at least ${choice.needed} bytes are needed`;
    throw new DiskError("DISK_FULL", message, { path: place });
  }
  const file = existing === "absent" ? await open(target, exclusively, mode) : existing;
  try {
    if (existing === "absent") await setOwner(file, owner, mode);
    await file.truncate(Number(choice.size));
  } catch (error) {
    if (existing === "absent") await rm(target, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return choice;
}

async function openExisting(target: string, place: string, owner: FileOwner | undefined) {
  const flags = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const seen = await lstat(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (!seen) return "absent";
  // A device must not even be opened.
  if (!seen.isFile()) throw refused(place);
  const file = await open(target, flags);
  const stat = await file.stat();
  const isOurs = owner === undefined || stat.uid === owner.uid;
  if (stat.isFile() && stat.size === 0 && isOurs) return file;
  await file.close();
  if (!stat.isFile()) throw refused(place);
  if (stat.size > 0) return "made";
  const message = `${place}: an empty file of uid ${stat.uid} exists, and its owner is not changed; remove it`;
  throw new DiskError("DISK_TARGET_REFUSED", message, { path: place });
}

function refused(place: string): DiskError {
  const message = `${place}: a link, directory or device, not a regular file; remove it`;
  return new DiskError("DISK_TARGET_REFUSED", message, { path: place });
}
