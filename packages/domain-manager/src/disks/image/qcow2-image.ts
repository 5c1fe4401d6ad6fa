import { DiskError } from "../disk-error.ts";
import type { SparseImage } from "./sparse-image.ts";

/** An image below another: the guest reads from it what it has not written. */
export interface BackingImage {
  /** Absolute path, as QEMU sees it. */
  readonly path: string;
  readonly format: "raw" | "qcow2";
}

const clusterBits = 16;
const clusterSize = 1 << clusterBits;
/** Bytes of the disk that one entry of the first table covers: a cluster of pointers to clusters. */
const bytesPerEntry = BigInt(clusterSize / 8) * BigInt(clusterSize);
const entriesPerCluster = clusterSize / 8;
const headerLength = 104;
const backingFormatExtension = 0xe2792aca;
const longestBackingPath = 1023;
/** QEMU's own limit of the first table is 32 MiB; 1 PiB needs 16 MiB. */
const largestDisk = 1n << 50n;
const sectorSize = 512n;

/**
 * An empty qcow2 image (version 3, clusters of 64 KiB), alone or on top of another: the header, the
 * reference counts and an empty first table. The size is rounded up to whole sectors, as QEMU does.
 *
 * @throws DiskError if the size is not positive or over 1 PiB, or the backing path is not absolute or
 *   over 1023 bytes.
 */
export function qcow2Image(bytes: bigint, backing?: BackingImage): SparseImage {
  const size = ((bytes + sectorSize - 1n) / sectorSize) * sectorSize;
  if (size <= 0n || size > largestDisk) {
    throw new DiskError("DISK_TOO_LARGE", `disk of ${bytes} bytes: must have 1 byte to 1 PiB`);
  }
  const entries = Number((size + bytesPerEntry - 1n) / bytesPerEntry);
  const clusters = 3 + Math.ceil(entries / entriesPerCluster);

  const header = Buffer.alloc(clusterSize);
  header.write("QFI\xfb", 0, "latin1");
  header.writeUInt32BE(3, 4);
  header.writeUInt32BE(clusterBits, 20);
  header.writeBigUInt64BE(size, 24);
  header.writeUInt32BE(entries, 36);
  header.writeBigUInt64BE(BigInt(3 * clusterSize), 40);
  header.writeBigUInt64BE(BigInt(clusterSize), 48);
  header.writeUInt32BE(1, 56);
  header.writeUInt32BE(4, 96);
  header.writeUInt32BE(headerLength, 100);
  if (backing) writeBacking(header, backing);

  const countTable = Buffer.alloc(8);
  countTable.writeBigUInt64BE(BigInt(2 * clusterSize));
  const counts = Buffer.alloc(2 * clusters);
  for (let at = 0; at < clusters; at++) counts.writeUInt16BE(1, 2 * at);
  return {
    size: clusters * clusterSize,
    extents: [
      { offset: 0, bytes: header },
      { offset: clusterSize, bytes: countTable },
      { offset: 2 * clusterSize, bytes: counts },
    ],
  };
}

function writeBacking(header: Buffer, { path, format }: BackingImage): void {
  const name = Buffer.from(path);
  // QEMU reads `nbd:host` or `json:{...}` as something other than a file, but never a path that
  // starts at the root.
  if (!path.startsWith("/") || path.includes("\0") || name.length > longestBackingPath) {
    throw new DiskError(
      "DISK_SOURCE_REFUSED",
      `${JSON.stringify(path.slice(0, 300))}: must be an absolute path of at most ${longestBackingPath} bytes`,
      { path },
    );
  }
  header.writeUInt32BE(backingFormatExtension, headerLength);
  header.writeUInt32BE(format.length, headerLength + 4);
  header.write(format, headerLength + 8, "latin1");
  // The extension is padded to 8 bytes; 8 zero bytes end the list.
  const start = headerLength + 8 + 8 + 8;
  name.copy(header, start);
  header.writeBigUInt64BE(BigInt(start), 8);
  header.writeUInt32BE(name.length, 16);
}
