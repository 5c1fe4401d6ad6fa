import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { DiskError } from "../disk-error.ts";
import { joinedExtents, type SparseImage } from "../image/sparse-image.ts";

/** Owner of a file that is created for QEMU. */
export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/** How {@link writeImage} writes. */
export interface WriteOptions {
  /** Default: the process's own. */
  readonly owner?: FileOwner | undefined;
  /** Permissions. Default `0o640`. */
  readonly mode?: number | undefined;
  /**
   * Sync the content to disk before the file gets its name. For files that persist between starts:
   * after a power cut, an empty file would be mistaken for the guest's own. Default false.
   */
  readonly durable?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes an image to a file that appears completely or not at all: first under a temporary name, then renamed
 * over the previous file. Creates missing directories. A failure leaves nothing behind; leftovers of a killed
 * process are overwritten.
 *
 * @throws DiskError, with the code `DISK_FULL` if there is no space.
 */
export async function writeImage(
  path: string,
  { size, extents }: SparseImage,
  { owner, mode = 0o640, durable = false, signal }: WriteOptions = {},
): Promise<void> {
  const staging = `${path}.staging`;
  try {
    await inStep("write", path, async () => {
      const file = await openStaging(staging, mode);
      try {
        for (const { offset, bytes } of joinedExtents(extents)) {
          signal?.throwIfAborted();
          await writeAll(file, bytes, offset);
        }
        await file.truncate(size);
        await setOwner(file, owner, mode);
        if (durable) await file.sync();
      } finally {
        await file.close();
      }
      signal?.throwIfAborted();
      await rename(staging, path);
    });
  } catch (error) {
    await rm(staging, { force: true }).catch(() => {});
    throw error;
  }
}

/**
 * Opens the file under its temporary name; creates its directory, and removes what is in its place.
 */
async function openStaging(staging: string, mode: number): Promise<FileHandle> {
  const ways: Readonly<Record<string, () => Promise<unknown>>> = {
    ENOENT: async () => await mkdir(dirname(staging), { recursive: true }),
    EEXIST: async () => await rm(staging),
  };
  return await open(staging, exclusively, mode).catch(async (error: NodeJS.ErrnoException) => {
    const way = ways[error.code ?? ""];
    if (!way) throw error;
    await way();
    return await open(staging, exclusively, mode);
  });
}

/**
 * Like {@link writeImage}, unless a regular file is there already: the disk of a guest that ran
 * before. Returns whether it wrote one.
 *
 * @throws DiskError `DISK_TARGET_REFUSED` if something else is there; it is left alone.
 */
export async function writeImageOnce(
  path: string,
  makeImage: () => SparseImage | Promise<SparseImage>,
  options: WriteOptions = {},
): Promise<boolean> {
  if (await isRegularFile(path)) return false;
  await writeImage(path, await makeImage(), options);
  return true;
}

/** Whether a regular file is there. Refuses anything else. */
export async function isRegularFile(path: string): Promise<boolean> {
  const stat = await inStep("look at", path, () =>
    lstat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    }),
  );
  if (!stat) return false;
  if (stat.isFile()) return true;
  throw new DiskError(
    "DISK_TARGET_REFUSED",
    `${path}: not a regular file, but a disk is to be created there; remove it`,
    { path },
  );
}

/** Never through a link, and never into a file that someone else created. */
export const exclusively: number =
  constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Sets owner and permissions through the open file, whatever the umask is. */
export async function setOwner(
  file: FileHandle,
  owner: FileOwner | undefined,
  mode: number,
): Promise<void> {
  const stat = await file.stat();
  if (owner && (stat.uid !== owner.uid || stat.gid !== owner.gid)) {
    await file.chown(owner.uid, owner.gid);
  }
  if ((stat.mode & 0o777) !== mode) await file.chmod(mode);
}

async function writeAll(file: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, offset + done);
    done += bytesWritten;
  }
}

/** Runs a step on a file; what it throws becomes a {@link DiskError} that names both. */
export async function inStep<T>(step: string, path: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    throw DiskError.from(step, path, cause);
  }
}
