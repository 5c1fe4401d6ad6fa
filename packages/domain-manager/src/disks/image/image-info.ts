import { DiskError } from "../disk-error.ts";

/** Format and size of an image. */
export interface ImageInfo {
  readonly format: "raw" | "qcow2";
  /** Bytes that the guest sees. */
  readonly virtualSize: bigint;
}

/** The first bytes of an image that {@link imageInfo} needs. */
export const imageHeadLength = 512;

/**
 * Signatures of formats that are recognized only to refuse them: a guest that received one as raw would not
 * boot.
 */
const refusedFormats: readonly (readonly [string, string])[] = [
  ["vmdk", "KDMV"],
  ["vmdk", "COWD"],
  ["vmdk", "# Disk DescriptorFile"],
  ["vhdx", "vhdxfile"],
  ["vpc", "conectix"],
  ["qed", "QED\0"],
  ["luks", "LUKS\xba\xbe"],
  ["parallels", "WithoutFreeSpace"],
  ["parallels", "WithouFreSpacExt"],
];
const vdiSignature = 0xbeda107f;

const features = { dirty: 1n, compression: 8n, extendedTables: 16n };
const acceptedFeatures = features.dirty | features.compression | features.extendedTables;

/**
 * Format and size of an image from its first bytes and the size of its file, with the checks that
 * an untrusted image needs: no backing file, no external data file, no encryption. A qcow2 that
 * names a file of the host would let the guest read it.
 *
 * @throws DiskError if the image is neither raw nor qcow2, or is refused.
 */
export function imageInfo(head: Uint8Array, fileSize: bigint, path: string): ImageInfo {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const starts = (text: string) => bytes.toString("latin1", 0, text.length) === text;
  if (starts("QFI\xfb")) return qcow2Info(bytes, path);
  const format =
    refusedFormats.find(([, signature]) => starts(signature))?.[0] ??
    (bytes.length >= 68 && bytes.readUInt32LE(64) === vdiSignature ? "vdi" : undefined);
  if (format) throw refused(path, `format ${format} is not accepted; convert it to raw or qcow2`);
  return { format: "raw", virtualSize: fileSize };
}

function qcow2Info(bytes: Buffer, path: string): ImageInfo {
  if (bytes.length < 72) throw refused(path, "a truncated qcow2 image");
  const version = bytes.readUInt32BE(4);
  if (version !== 2 && version !== 3)
    throw refused(path, `qcow2 of version ${version}; use 2 or 3`);
  const hasBacking = bytes.readBigUInt64BE(8) !== 0n || bytes.readUInt32BE(16) !== 0;
  if (hasBacking) throw refused(path, "it has a backing file; flatten it with qemu-img convert");
  if (bytes.readUInt32BE(32) !== 0) throw refused(path, "it is encrypted");
  if (version === 3) checkFeatures(bytes, path);
  return { format: "qcow2", virtualSize: bytes.readBigUInt64BE(24) };
}

function checkFeatures(bytes: Buffer, path: string): void {
  if (bytes.length < 104) throw refused(path, "a truncated qcow2 image");
  const unknown = bytes.readBigUInt64BE(72) & ~acceptedFeatures;
  if (unknown & 2n)
    throw refused(path, "it is marked as corrupt; repair it with qemu-img check -r");
  if (unknown & 4n) throw refused(path, "its data is in another file; flatten it");
  if (unknown) throw refused(path, `unknown qcow2 features (0x${unknown.toString(16)})`);
}

function refused(path: string, what: string): DiskError {
  return new DiskError("DISK_SOURCE_REFUSED", `${path}: ${what}`, { path });
}
