import { readlinkSync, realpathSync } from "node:fs";
import { createHostDisk } from "@virtkit/domain-manager/disks";
import { hasErrno, isHostError } from "@virtkit/host-primitives";
import { makeDirectory, openRoot, type SafePath } from "@virtkit/host-primitives/safe-path";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { bindOpenFile, ifThere, type MountPlace } from "@virtkit/node-agent/prepare";
import { launcherAccess } from "./launcher-access.ts";
import type { LocalHostDisk } from "./plan-host-disks.ts";
import { launcherUid } from "./pod-volumes.ts";

/** Host disks of a VMI, held open from the check to the mount. */
export class OpenHostDisks implements Disposable {
  readonly #disks: OpenHostDisk[] = [];

  /**
   * Opens each existing disk, and for one that may be created the deepest existing directory. Below
   * an allowed directory, links are never followed. Creates and changes nothing.
   *
   * @throws NodeAgentError if a disk is missing, is not a regular file, has another name, or cannot
   * be used by the launcher's user.
   */
  constructor(disks: readonly LocalHostDisk[], stateDirectory: string) {
    try {
      for (const disk of disks) this.#disks.push(openHostDisk(disk, stateDirectory));
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * Creates the missing disks, and mounts all of them in the sandbox by their handles: it sees
   * nothing else of their directories. A created disk belongs to the user from then on and is never
   * removed: another guest may use it by now.
   */
  async mount(place: MountPlace): Promise<void> {
    for (const open of this.#disks) {
      if (open.missing.length > 0) await makeMissing(open);
      await mountDisk(open, place);
    }
  }

  [Symbol.dispose](): void {
    for (const { at } of this.#disks) at.close();
  }
}

interface OpenHostDisk {
  readonly disk: LocalHostDisk;
  /** The file, or the last existing directory on the way to it. */
  at: SafePath;
  missing: readonly string[];
}

function openHostDisk(disk: LocalHostDisk, stateDirectory: string): OpenHostDisk {
  const open: OpenHostDisk = {
    disk,
    at: openAllowed(disk.directory, stateDirectory),
    missing: disk.parts,
  };
  try {
    inField(disk, () => walk(open));
    if (open.missing.length > 0 && disk.size === undefined) throw missing(disk);
    if (open.missing.length === 0) requireUsable(open.at, disk);
    return open;
  } catch (error) {
    open.at.close();
    throw error;
  }
}

/** The operator's path is trusted, including links, but other guests' files are never a disk. */
function openAllowed(directory: string, stateDirectory: string): SafePath {
  const path = "allowedHostDiskDirectories";
  const refuse = (problem: string, cause?: unknown): NodeAgentError =>
    new NodeAgentError("AGENT_ARGUMENT", `--allow-host-disk ${directory}: ${problem}`, {
      path,
      cause,
    });
  try {
    using root = openRoot(directory);
    const [real, state] = [readlinkSync(`/proc/self/fd/${root.fd}`), realPath(stateDirectory)];
    if (!isInside(real, state) && !isInside(state, real)) return root.directory();
  } catch (error) {
    if (!isHostError(error)) throw error;
    const found = hasErrno(error, "ENOENT", "ENOTDIR") ? "not a directory" : error.message;
    throw refuse(`${found}; name one that exists`, error);
  }
  throw refuse(`it overlaps with the state directory ${stateDirectory}; name another one`);
}

function realPath(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    // One that is not there is refused later, by its name.
    return directory;
  }
}

function isInside(path: string, directory: string): boolean {
  return directory === "/" || path === directory || path.startsWith(`${directory}/`);
}

/** Continues from handle to handle, one name at a time, as far as something exists. */
function walk(open: OpenHostDisk): void {
  for (;;) {
    const [name, ...rest] = open.missing;
    if (name === undefined) return;
    const { at } = open;
    const next = ifThere(() => at.child(name, rest.length === 0 ? "file" : "directory"));
    if (!next) return;
    at.close();
    open.at = next;
    open.missing = rest;
  }
}

/** How often something that was created may be gone again before it is opened. */
const mostRaces = 16;

async function makeMissing(open: OpenHostDisk): Promise<void> {
  const { disk } = open;
  for (let left = open.missing.length + mostRaces; left > 0; left--) {
    // Someone else may have created some of it meanwhile; it is checked like the first time.
    inField(disk, () => walk(open));
    const { at, missing } = open;
    const [name, ...rest] = missing;
    if (name === undefined) return requireUsable(at, disk);
    if (rest.length > 0) makeOrFind(at, name);
    else await makeDisk(at, name, disk);
  }
  throw refused(disk, `${disk.path} is removed as soon as it is created; create it yourself`);
}

function makeOrFind(parent: SafePath, name: string): void {
  try {
    makeDirectory(parent, name).close();
  } catch (error) {
    if (!hasErrno(error, "EEXIST")) throw error;
  }
}

async function makeDisk(
  parent: SafePath,
  file: string,
  { volume, size = 0n }: LocalHostDisk,
): Promise<void> {
  await createHostDisk(
    { volume, directory: "/", file, size },
    { root: `/proc/self/fd/${parent.fd}`, owner: { uid: launcherUid, gid: launcherUid } },
  );
}

async function mountDisk({ at, disk }: OpenHostDisk, place: MountPlace): Promise<void> {
  try {
    await bindOpenFile(at, disk.target, place, { readOnly: disk.readOnly });
  } catch (error) {
    // The kernel does not mount a file that has lost its last name.
    if (!hasErrno(error, "ENOENT") || at.stat().links > 0n) throw error;
    throw refused(disk, `${disk.path} was removed while it was mounted; start it again`, error);
  }
}

/** A refusal below an allowed directory is reported for the field that names the disk. */
function inField(disk: LocalHostDisk, run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!isHostError(error)) throw error;
    throw refused(disk, `${error.message}; name the file itself, without links`, error);
  }
}

function requireUsable(file: SafePath, disk: LocalHostDisk): void {
  const { path, readOnly } = disk;
  const { uid, mode, links } = file.stat();
  if (links !== 1n) {
    const problem = `${path} has ${links} hard links, and may be somebody else's file`;
    throw refused(disk, `${problem}; use a copy`);
  }
  const { readable, writable } = launcherAccess(file);
  if (readable && (readOnly || writable)) return;
  const wanted = readOnly ? "read" : "read and written";
  const found = `it belongs to uid ${uid}, mode ${mode.toString(8).padStart(4, "0")}`;
  const problem = `${path} cannot be ${wanted} by uid ${launcherUid}, the guest's user (${found})`;
  const command = `setfacl -m u:${launcherUid}:${readOnly ? "r" : "rw"} ${path}`;
  throw refused(disk, `${problem}; to allow it: ${command}, or: chown ${launcherUid} ${path}`);
}

function missing(disk: LocalHostDisk): NodeAgentError {
  return refused(disk, `there is no disk at ${disk.path}; create it, or use type: DiskOrCreate`);
}

function refused({ field }: LocalHostDisk, problem: string, cause?: unknown): NodeAgentError {
  return new NodeAgentError("AGENT_VMI_INVALID", `${field}: ${problem}`, { path: field, cause });
}
