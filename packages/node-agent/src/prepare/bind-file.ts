import { constants, readSync } from "node:fs";
import { imageInfo } from "@virtkit/domain-manager/disks/images";
import { hasErrno } from "@virtkit/host-primitives";
import { type Namespace, runIn } from "@virtkit/host-primitives/namespaces";
import {
  createFile,
  type FileType,
  makeDirectory,
  removeDirectory,
  removeFile,
  type SafePath,
  type SafeRoot,
} from "@virtkit/host-primitives/safe-path";
import { NodeAgentError } from "../node-agent-error.ts";
import type { ContainerRoot } from "../sandbox/sandbox.ts";

/** A tree of files to mount something in. */
export interface MountPlace {
  readonly root: SafeRoot;
  readonly mounts: Namespace;
}

/** What is mounted, and where. */
export interface FileBind {
  readonly source: string;
  readonly target: string;
  /** Whether the source must be a disk image. */
  readonly image: boolean;
}

/**
 * Mounts a container's file, read-only, in a sandbox. Both are opened once and then used by their handles; the
 * image is checked on the handle that is mounted, whatever its path refers to by then.
 */
export async function bindFile(
  { source, target, image }: FileBind,
  container: ContainerRoot,
  place: MountPlace,
): Promise<void> {
  using file = container.root.resolve(source, "file");
  if (image) checkImage(file);
  const spaces = container.mounts ? [container.mounts] : [];
  await bindOpenFile(file, target, place, { readOnly: true, spaces });
}

/** How {@link bindOpenFile} mounts. */
export interface OpenFileOptions {
  readonly readOnly: boolean;
  /** Where the file was opened. Default: in this process's own namespaces. */
  readonly spaces?: readonly Namespace[];
}

/**
 * Mounts an open file or directory. It is this file, whatever its path refers to now. Does nothing if it is
 * already mounted.
 */
export async function bindOpenFile(
  file: SafePath,
  target: string,
  place: MountPlace,
  { readOnly, spaces = [] }: OpenFileOptions,
): Promise<void> {
  makeTarget(place.root, target, file.type);
  using point = place.root.resolve(target, file.type);
  if (point.isMountRoot()) return assertSame(file, point);
  const { descriptors } = await runIn(spaces, "detachedBind", {
    source: borrow(file),
    options: { readOnly, noSuid: true, noDev: true, noExec: true, propagation: "private" },
  });
  const [mount] = descriptors;
  if (!mount) {
    throw new NodeAgentError("AGENT_STEP", `${file.description} could not be cloned; try again`);
  }
  using tree = mount;
  const request = { mount: { fd: tree.fd, description: tree.what }, target: borrow(point) };
  await runIn([place.mounts], "attachMount", request);
}

/** Removes the mount, and the empty file or directory below it. Anything else there is left alone. */
export async function unbindFile(target: string, place: MountPlace): Promise<void> {
  const point = ifThere(() => place.root.resolve(target, ["file", "directory"]));
  if (!point) return;
  try {
    await runIn([place.mounts], "unmount", { target: borrow(point) });
  } finally {
    point.close();
  }
  removeEmpty(place.root, target);
}

function removeEmpty(root: SafeRoot, target: string): void {
  const left = ifThere(() => root.resolve(target, ["file", "directory"]));
  if (!left) return;
  using point = left;
  const isDirectory = point.type === "directory";
  if (point.isMountRoot() || (!isDirectory && point.stat().size > 0n)) return;
  using entry = root.locate(target);
  try {
    if (isDirectory) removeDirectory(entry.directory, entry.name);
    else removeFile(entry.directory, entry.name);
  } catch (error) {
    if (!hasErrno(error, "ENOTEMPTY")) throw error;
  }
}

function makeTarget(root: SafeRoot, target: string, type: FileType): void {
  using entry = root.locate(target);
  try {
    if (type === "directory") makeDirectory(entry.directory, entry.name).close();
    else createFile(entry.directory, entry.name, "", { mode: 0o444 });
  } catch (error) {
    if (!hasErrno(error, "EEXIST")) throw error;
  }
}

const headLength = 512;

/** Formats, backing files and the like are rejected: a guest would read files of the host through them. */
function checkImage(file: SafePath): void {
  using opened = file.open(constants.O_RDONLY);
  const head = Buffer.alloc(headLength);
  const count = readSync(opened.fd, head, 0, head.length, 0);
  imageInfo(head.subarray(0, count), file.stat().size, file.description);
}

function assertSame(file: SafePath, mounted: SafePath): void {
  const [wanted, found] = [file.stat(), mounted.stat()];
  if (wanted.inode === found.inode && wanted.fileSystem === found.fileSystem) return;
  const message = `${mounted.description} is not a mount of ${file.description}; tear the Pod down and prepare it again`;
  throw new NodeAgentError("AGENT_SANDBOX", message, { path: mounted.description });
}

function borrow({ fd, description }: SafePath): { fd: number; description: string } {
  return { fd, description };
}

/** Opens something that may be absent; undefined if it is. */
export function ifThere<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch (error) {
    if (hasErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}
