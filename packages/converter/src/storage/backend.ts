import type { DomainDisk } from "../model/disk.ts";

/** The file or device with a disk's data: below an overlay that only tracks changes. */
export interface DiskBackend {
  /** Empty if there is none, as in an empty CD-ROM drive. */
  readonly path: string;
  readonly isBlock: boolean;
}

/** Finds where a disk's data is. */
export function backendOf({ source }: DomainDisk): DiskBackend {
  const below = source.dataStore?.source;
  if (below?.file) return { path: below.file, isBlock: false };
  if (below?.dev) return { path: below.dev, isBlock: true };
  if (source.file) return { path: source.file, isBlock: false };
  return { path: source.dev ?? "", isBlock: Boolean(source.dev) };
}
