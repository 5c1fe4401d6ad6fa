import { constants, readFileSync, readSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { DiskPaths, isDiskError } from "@virtkit/domain-manager/disks";
import { imageInfo } from "@virtkit/domain-manager/disks/images";
import { hasErrno, isHostError } from "@virtkit/host-primitives";
import { openRoot, type SafePath, splitDeviceNumber } from "@virtkit/host-primitives/safe-path";
import { bindOpenFile, type MountPlace } from "@virtkit/node-agent/prepare";
import { launcherAccess } from "./launcher-access.ts";
import type { ClaimFact } from "./local-facts.ts";
import { claimUses } from "./volume-refusals.ts";

/** Files in place of claims, held open from the first check until they are mounted. */
export interface ClaimFiles extends Disposable {
  /** By the names of the claims. */
  readonly facts: Readonly<Record<string, ClaimFact>>;
  readonly files: ReadonlyMap<string, SafePath>;
}

/**
 * Opens the files that were given for claims, never through a link at the end of a path, and checks
 * each through its handle. Problems are reported, not thrown. Changes nothing: a file keeps its
 * owner, mode and access list.
 *
 * @param claims Absolute paths by the names of the claims.
 * @param options `inUse`: the guest that has them open is the one that moves.
 */
export function openClaimFiles(
  claims: Readonly<Record<string, string>>,
  { inUse = false }: { readonly inUse?: boolean } = {},
): ClaimFiles {
  const files = new Map<string, SafePath>();
  const facts = new Map<string, ClaimFact>();
  for (const [name, path] of Object.entries(claims)) {
    const { fact, file } = openClaim(path, inUse);
    const other = file && nameOfSame(file, files);
    facts.set(name, other === undefined ? fact : { ...fact, problem: sharedWith(path, other) });
    if (file) files.set(name, file);
  }
  const close = (): void => {
    for (const file of files.values()) file.close();
  };
  return { facts: Object.fromEntries(facts), files, [Symbol.dispose]: close };
}

type Problem = NonNullable<ClaimFact["problem"]>;

/** The claim with the same file, by whichever path. */
function nameOfSame(file: SafePath, files: ReadonlyMap<string, SafePath>): string | undefined {
  const { inode, fileSystem } = file.stat();
  const same = [...files].find(([, other]) => {
    const status = other.stat();
    return status.inode === inode && status.fileSystem === fileSystem;
  });
  return same?.[0];
}

function sharedWith(path: string, other: string): Problem {
  return {
    found: `${path} is already used for "${other}"`,
    instead: "give each claim its own file",
  };
}

const none = { readable: false, writable: false };

function openClaim(path: string, inUse: boolean): { fact: ClaimFact; file?: SafePath } {
  const unusable = (problem: Problem) => ({ fact: { path, problem, ...none } });
  let file: SafePath;
  try {
    using folder = openRoot(dirname(path));
    file = folder.resolve(basename(path));
  } catch (error) {
    return unusable(notOpened(path, error));
  }
  try {
    const problem = problemOf(path, file, inUse);
    if (!problem) return { file, fact: { path, ...launcherAccess(file) } };
    file.close();
    return unusable(problem);
  } catch (error) {
    file.close();
    throw error;
  }
}

function notOpened(path: string, error: unknown): Problem {
  if (hasErrno(error, "ENOENT", "ENOTDIR")) {
    return {
      found: `${path} does not exist`,
      instead: "create it: truncate -s 10G FILE, or copy one",
    };
  }
  if (isHostError(error) && error.code === "HOST_PATH_UNSAFE") {
    return { found: `${path} is a link`, instead: "use the path of the file itself" };
  }
  if (!isHostError(error)) throw error;
  return { found: `${path} cannot be opened: ${error.message}`, instead: "give another file" };
}

/**
 * A claim holds a raw image, as in KubeVirt: the guest writes to it, and could choose the format if
 * that was read from the file.
 */
function problemOf(path: string, file: SafePath, inUse: boolean): Problem | undefined {
  if (file.type !== "file") {
    const found = `${path} is a ${file.type}, not a regular file`;
    return { found, instead: "use the path of a raw disk image" };
  }
  const { size } = file.stat();
  if (size === 0n) return { found: `${path} is empty`, instead: `run: truncate -s 10G ${path}` };
  const convert = `run: qemu-img convert -O raw ${path} DISK.img`;
  try {
    const { format } = imageInfo(head(file), size, path);
    if (format !== "raw") return { found: `${path} is ${format}, not raw`, instead: convert };
  } catch (error) {
    if (!isDiskError(error)) throw error;
    return { found: error.message, instead: convert };
  }
  if (!inUse && isLocked(file)) {
    return {
      found: `${path} is in use by another guest`,
      instead: "stop that one, or copy the file",
    };
  }
  return undefined;
}

const headLength = 512;

function head(file: SafePath): Buffer {
  using opened = file.open(constants.O_RDONLY);
  const bytes = Buffer.alloc(headLength);
  return bytes.subarray(0, readSync(opened.fd, bytes, 0, bytes.length, 0));
}

/** QEMU locks an image while it has it open; a second QEMU would fail on that late. */
function isLocked(file: SafePath): boolean {
  const { inode, fileSystem } = file.stat();
  const { major, minor } = splitDeviceNumber(fileSystem);
  const hex = (value: number): string => value.toString(16).padStart(2, "0");
  return readFileSync("/proc/locks", "utf8").includes(` ${hex(major)}:${hex(minor)}:${inode} `);
}

/**
 * Mounts the files where the launcher expects the images on its claims: exactly the files that were
 * opened, even if their paths now mean something else. The mounts end with the sandbox.
 */
export async function mountClaimFiles(
  vmi: VirtualMachineInstance,
  { files }: Pick<ClaimFiles, "files">,
  place: MountPlace,
): Promise<void> {
  const paths = new DiskPaths();
  for (const { volume, claim, writes } of claimUses(vmi)) {
    const file = files.get(claim);
    if (!file) continue;
    await bindOpenFile(file, paths.claimImage(volume, false), place, { readOnly: !writes });
  }
}
