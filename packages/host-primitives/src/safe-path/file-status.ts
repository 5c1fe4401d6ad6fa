import { constants, fstatSync } from "node:fs";
import { HostError } from "../host-error.ts";

/** The type of object that a handle refers to. */
export type FileType =
  | "file"
  | "directory"
  | "symlink"
  | "socket"
  | "fifo"
  | "char"
  | "block"
  | "unknown";

/** Numbers of a device node. */
export interface DeviceNumber {
  readonly major: number;
  readonly minor: number;
}

/** What the kernel says about an open handle. */
export interface FileStatus {
  readonly type: FileType;
  /** Permission bits, with set-uid, set-gid and sticky. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: bigint;
  readonly links: bigint;
  readonly inode: bigint;
  /** Device of the file system that the object is on. */
  readonly fileSystem: bigint;
  /** Numbers of a `char` or `block` device; 0:0 for everything else. */
  readonly device: DeviceNumber;
}

const types: ReadonlyMap<number, FileType> = new Map([
  [constants.S_IFREG, "file"],
  [constants.S_IFDIR, "directory"],
  [constants.S_IFLNK, "symlink"],
  [constants.S_IFSOCK, "socket"],
  [constants.S_IFIFO, "fifo"],
  [constants.S_IFCHR, "char"],
  [constants.S_IFBLK, "block"],
]);

/** Bits of the file type for `mknod`. */
export const typeBits: Readonly<Record<"fifo" | "socket" | "char" | "block", number>> = {
  fifo: constants.S_IFIFO,
  socket: constants.S_IFSOCK,
  char: constants.S_IFCHR,
  block: constants.S_IFBLK,
};

/** Status of an open descriptor; also works for handles opened only as a path. */
export function fileStatus(fd: number, touched: string): FileStatus {
  try {
    const { mode, uid, gid, size, nlink, ino, dev, rdev } = fstatSync(fd, { bigint: true });
    return {
      type: types.get(Number(mode) & constants.S_IFMT) ?? "unknown",
      mode: Number(mode) & 0o7777,
      uid: Number(uid),
      gid: Number(gid),
      size,
      links: nlink,
      inode: ino,
      fileSystem: dev,
      device: splitDeviceNumber(rdev),
    };
  } catch (error) {
    throw HostError.from(error, touched);
  }
}

/** The kernel's device number in two parts, as glibc's `major` and `minor`. */
export function splitDeviceNumber(device: bigint): DeviceNumber {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
  const minor = (device & 0xffn) | ((device >> 12n) & ~0xffn & 0xffffffffn);
  return { major: Number(major), minor: Number(minor) };
}

/** The inverse of {@link splitDeviceNumber}; both parts are 32-bit numbers. */
export function joinDeviceNumber({ major, minor }: DeviceNumber): bigint {
  const [high, low] = [BigInt(major), BigInt(minor)];
  return (
    ((high & 0xfffn) << 8n) | ((high & ~0xfffn) << 32n) | (low & 0xffn) | ((low & ~0xffn) << 12n)
  );
}
