import { DiskError } from "../disk-error.ts";
import type { MediaFile } from "../media.ts";
import { Sealed } from "../sealed.ts";
import { type Found, RootedDirectory, readBounded } from "./rooted-directory.ts";

/** Limits of a mounted volume. */
export interface VolumeLimits {
  /** Sum of all files in bytes. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Files and directories. Default 10000. */
  readonly maxFiles?: number;
}

/**
 * Reads all files of a mounted ConfigMap, Secret or the like; undefined if the directory is not there.
 *
 * Links are followed inside the volume, because the kubelet makes each key a link to `..data/key`
 * and swaps that. Names that begin with `..` are the kubelet's own and are skipped. Devices,
 * sockets and pipes, links that lead nowhere and whatever exceeds a limit are refused.
 */
export async function readVolume(
  path: string,
  { maxBytes = 64 << 20, maxFiles = 10_000 }: VolumeLimits = {},
): Promise<readonly MediaFile[] | undefined> {
  let root: RootedDirectory;
  try {
    root = await RootedDirectory.open(path);
  } catch (error) {
    if ((error as DiskError).code === "DISK_SOURCE_MISSING") return undefined;
    throw error;
  }
  await using held = root;
  const budget = { bytes: maxBytes, files: maxFiles };
  return await readDirectory(held, "", budget, 0);
}

interface Budget {
  bytes: number;
  files: number;
}

const deepest = 32;

async function readDirectory(
  root: RootedDirectory,
  directory: string,
  budget: Budget,
  depth: number,
): Promise<MediaFile[]> {
  const place = `${root.path}/${directory}`;
  // A link to a directory above itself makes an endless tree.
  if (depth > deepest) {
    throw new DiskError("DISK_TOO_LARGE", `${place}: over ${deepest} directories deep`, {
      path: place,
    });
  }
  const names = (await root.list(directory, budget.files)) ?? [];
  budget.files -= names.length;
  const files: MediaFile[] = [];
  for (const name of names) {
    if (name.startsWith("..")) continue;
    const path = directory === "" ? name : `${directory}/${name}`;
    const found = await root.find(path);
    if (found?.kind === "directory") {
      await found.handle.close();
      files.push(...(await readDirectory(root, path, budget, depth + 1)));
    } else {
      files.push(await readFound(found, path, `${root.path}/${path}`, budget));
    }
  }
  return files;
}

async function readFound(
  found: Found | undefined,
  path: string,
  place: string,
  budget: Budget,
): Promise<MediaFile> {
  if (!found) {
    const message = `${place}: a link that leads nowhere`;
    throw new DiskError("DISK_SOURCE_MISSING", message, { path: place });
  }
  try {
    if (found.kind !== "file") {
      const message = `${place}: a device, socket or pipe, not a regular file`;
      throw new DiskError("DISK_SOURCE_REFUSED", message, { path: place });
    }
    const bytes = await readBounded(found, budget.bytes, place);
    budget.bytes -= bytes.length;
    return { path, content: new Sealed(bytes), mode: found.mode };
  } finally {
    await found.handle.close();
  }
}
