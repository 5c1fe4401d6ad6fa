import type { MountedFiles, MountedSecrets } from "../mounted-secrets.ts";
import { readVolume, type VolumeLimits } from "./read-volume.ts";

/**
 * Reads mounted Secrets by the names of their directories. Those that are not mounted are left out:
 * the user of the Secrets decides whether that matters.
 */
export async function readSecrets(
  directory: string,
  names: Iterable<string>,
  limits: VolumeLimits = {},
): Promise<MountedSecrets> {
  const secrets = new Map<string, MountedFiles>();
  for (const name of new Set(names)) {
    const files = await readVolume(`${directory}/${name}`, limits);
    if (files) secrets.set(name, new Map(files.map(({ path, content }) => [path, content])));
  }
  return secrets;
}
