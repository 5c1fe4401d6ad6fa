import type { Disk } from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Cause, fine, invalid, join } from "./cause.ts";

const smallest = 512;
const largest = 2 << 20;

/** The sector sizes that a disk reports; only the first fault is reported. */
export function blockSize(disk: Disk, at: string): readonly Cause[] {
  const { custom, matchVolume } = disk.blockSize ?? {};
  if (!custom) return fine;
  const field = `${at}.blockSize`;
  if (matchVolume && matchVolume.enabled !== false) {
    return invalid(field, "has custom and matchVolume; keep one");
  }
  const { logical = 0, physical = 0, discardGranularity } = custom;
  if (logical > physical) {
    return invalid(
      `${field}.custom.logical`,
      `is ${logical}, more than physical ${physical}; lower it`,
    );
  }
  if (isSata(disk) && logical !== smallest) {
    return invalid(`${field}.custom.logical`, `is ${logical}; on SATA it must be ${smallest}`);
  }
  if (isSet(discardGranularity) && logical !== 0 && discardGranularity % logical !== 0) {
    return invalid(
      `${field}.custom.discardGranularity`,
      `is ${discardGranularity}, not a multiple of logical ${logical}`,
    );
  }
  return join(
    sectorSize(logical, `${field}.custom.logical`),
    sectorSize(physical, `${field}.custom.physical`),
  );
}

function isSata({ disk, lun, cdrom }: Disk): boolean {
  return (disk ?? lun ?? cdrom)?.bus === "sata";
}

function sectorSize(size: number, field: string): readonly Cause[] {
  if (size >= smallest && size <= largest && Number.isInteger(Math.log2(size))) return fine;
  return invalid(field, `is ${size}; use a power of two from ${smallest} to ${largest}`);
}
