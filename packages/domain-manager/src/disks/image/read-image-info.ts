import { constants } from "node:fs";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { DiskError } from "../disk-error.ts";
import { inStep } from "../files/write-image.ts";
import { type ImageInfo, imageHeadLength, imageInfo } from "./image-info.ts";

/** Options of {@link readImageInfo}. */
export interface ImageInfoOptions {
  /** Assume this format, whatever the content is. Default: detected from the first bytes. */
  readonly format?: "raw";
  /** Where the kernel shows its devices. Default `/sys`. */
  readonly sysfs?: string;
}

/**
 * Like {@link imageInfo}, for a file or block device. The path is trusted up to its last component,
 * which is never a link.
 *
 * @throws DiskError if it is neither, or is refused.
 */
export async function readImageInfo(
  path: string,
  options: ImageInfoOptions = {},
): Promise<ImageInfo> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  return await inStep("read", path, async () => {
    const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
      throw error.code === "ELOOP" ? notAnImage(path) : error;
    });
    try {
      return await imageInfoOf(file, path, options);
    } finally {
      await file.close();
    }
  });
}

/** {@link readImageInfo} of a file that is open. */
export async function imageInfoOf(
  file: FileHandle,
  path: string,
  { format, sysfs = "/sys" }: ImageInfoOptions = {},
): Promise<ImageInfo> {
  const stat = await file.stat({ bigint: true });
  if (!stat.isFile() && !stat.isBlockDevice()) throw notAnImage(path);
  const size = stat.isFile() ? stat.size : await deviceSize(stat.rdev, sysfs);
  if (format) return { format, virtualSize: size };
  const head = Buffer.alloc(imageHeadLength);
  const { bytesRead } = await file.read(head, 0, head.length, 0);
  return imageInfo(head.subarray(0, bytesRead), size, path);
}

/**
 * The kernel reports the size of a block device in sectors of 512 bytes, whatever its own sector
 * size.
 */
async function deviceSize(device: bigint, sysfs: string): Promise<bigint> {
  const [major, minor] = deviceNumbers(device);
  const text = await readFile(`${sysfs}/dev/block/${major}:${minor}/size`, "utf8");
  return BigInt(text.trim()) * 512n;
}

/** The two parts of a device number, as glibc packs them. */
function deviceNumbers(device: bigint): readonly [bigint, bigint] {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
  const minor = (device & 0xffn) | ((device >> 12n) & ~0xffn);
  return [major, minor];
}

function notAnImage(path: string): DiskError {
  const message = `${path}: neither a regular file nor a block device`;
  return new DiskError("DISK_SOURCE_REFUSED", message, { path });
}
