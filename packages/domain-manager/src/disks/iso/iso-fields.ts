/** Bytes of a sector, the unit of every address in an ISO image. */
export const sectorSize = 2048;

/** A number in both byte orders, as ISO 9660 wants most of them. */
export function bothEndian32(value: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(value, 0);
  bytes.writeUInt32BE(value, 4);
  return bytes;
}

export function bothEndian16(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16LE(value, 0);
  bytes.writeUInt16BE(value, 2);
  return bytes;
}

/** A time in a directory record, in UTC. */
export function recordTime(time: Date): Uint8Array {
  return Buffer.from([
    time.getUTCFullYear() - 1900,
    time.getUTCMonth() + 1,
    time.getUTCDate(),
    time.getUTCHours(),
    time.getUTCMinutes(),
    time.getUTCSeconds(),
    0,
  ]);
}

/** A time in a volume descriptor: sixteen digits and the zone. */
export function descriptorTime(time: Date): Uint8Array {
  const digits = time
    .toISOString()
    .replace(/[^0-9]/g, "")
    .slice(0, 16);
  return Buffer.from(`${digits}\0`);
}

export function sectorsFor(bytes: number): number {
  return Math.ceil(bytes / sectorSize);
}
