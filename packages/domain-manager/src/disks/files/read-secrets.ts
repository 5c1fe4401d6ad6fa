import type { MountedFiles, MountedSecrets } from "../mounted-secrets.ts";
import { readVolume, type VolumeLimits } from "./read-volume.ts";

/**
 * Reads mounted Secrets by the names of their directories. One that is not mounted is left out: whether
 * that matters is for the reader of the Secrets to say.
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
