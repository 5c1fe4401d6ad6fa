import { DiskError } from "./disk-error.ts";
import type { Sealed } from "./sealed.ts";

/** Files of a mounted Secret or ConfigMap, by path below its directory. */
export type MountedFiles = ReadonlyMap<string, Sealed<Uint8Array>>;

/**
 * The mounted Secrets of a launcher, by the name of their directory, without those that are not
 * mounted.
 */
export type MountedSecrets = ReadonlyMap<string, MountedFiles>;

/**
 * Files directly in a Secret's directory, ordered by name. Names that begin with `..` are the
 * kubelet's own, by which it swaps all files of a Secret at once.
 *
 * @throws DiskError if the Secret is not mounted; `path` is the field that names it.
 */
export function topLevelFiles(
  secrets: MountedSecrets,
  directory: string,
  path: string,
): readonly (readonly [string, Sealed<Uint8Array>])[] {
  const files = secrets.get(directory);
  if (!files) {
    throw new DiskError(
      "DISK_SOURCE_MISSING",
      `${path}: the Secret is not mounted at "${directory}"; does it exist?`,
      { path: directory },
    );
  }
  return [...files]
    .filter(([name]) => !name.includes("/") && !name.startsWith(".."))
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}
