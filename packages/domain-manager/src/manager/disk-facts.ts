import { constants } from "node:fs";
import { open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { realRandom } from "@virtkit/api/random";
import type { PodFacts } from "@virtkit/converter/launcher";
import type { Domain, DomainDisk } from "@virtkit/converter/model";
import { readImageInfo } from "../disks/image/read-image-info.ts";
import type { LocalPath } from "./launcher-files.ts";

/** Properties of the storage below a domain's disks, by the paths in the domain. */
export interface DiskFacts {
  readonly takesDirectIo: (path: string) => boolean;
  readonly isPreallocated: (path: string) => boolean;
}

/**
 * Tests the storage of every disk of a domain. What the node agent knows about a path takes
 * precedence.
 */
export async function diskFacts(
  domain: Domain,
  localPath: LocalPath,
  { noDirectIO = [], directIOErrors = [], preallocatedPaths = [] }: PodFacts = {},
): Promise<DiskFacts> {
  const cached = [...noDirectIO, ...directIOErrors];
  const told = (path: string): boolean => cached.some((prefix) => path.startsWith(prefix));
  const paths = new Set(domain.devices.disks.flatMap(pathsOf));
  const direct = new Set<string>();
  const preallocated = new Set(preallocatedPaths);
  for (const path of paths) {
    const local = localPath(path);
    if (!told(path) && (await takesDirectIo(local))) direct.add(path);
    if (await isPreallocated(local)) preallocated.add(path);
  }
  return {
    takesDirectIo: (path) => direct.has(path),
    isPreallocated: (path) => preallocated.has(path),
  };
}

function pathsOf({ source, backingStore }: DomainDisk): string[] {
  const below = source.dataStore?.source;
  const path = below?.file ?? below?.dev ?? source.file ?? source.dev;
  return [path, backingStore?.source?.file].filter((found): found is string => Boolean(found));
}

const read = constants.O_RDONLY | constants.O_DIRECT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const create =
  constants.O_RDWR |
  constants.O_CREAT |
  constants.O_EXCL |
  constants.O_DIRECT |
  constants.O_NOFOLLOW;

/**
 * Whether a file can be opened with direct I/O. If it does not exist yet, a temporary file in its
 * directory is tested. What cannot be tested counts as no.
 */
export async function takesDirectIo(path: string): Promise<boolean> {
  const opened = await canOpen(path, read);
  if (opened !== "ENOENT") return opened === "ok";
  const probe = `${dirname(path)}/.direct-io-${realRandom.uuid()}`;
  try {
    return (await canOpen(probe, create)) === "ok";
  } finally {
    // A leftover empty file is not a reason to refuse a disk.
    await rm(probe, { force: true }).catch(() => {});
  }
}

async function canOpen(path: string, flags: number): Promise<string> {
  try {
    const file = await open(path, flags, 0o600);
    await file.close();
    return "ok";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unknown";
  }
}

/** Whether an image is fully allocated, so that a write never waits for more space. */
async function isPreallocated(path: string): Promise<boolean> {
  try {
    const file = await stat(path, { bigint: true });
    if (!file.isFile()) return false;
    const { virtualSize } = await readImageInfo(path);
    // An image of qcow2 may take a little more than it holds.
    return virtualSize > 0n && virtualSize <= file.blocks * 512n;
  } catch {
    // An image that cannot be read here is refused by QEMU, which says why.
    return false;
  }
}
