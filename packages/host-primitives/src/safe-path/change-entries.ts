import { randomUUID } from "node:crypto";
import { constants, fchmodSync, fsyncSync, ftruncateSync } from "node:fs";
import { writeWhole } from "../durable/write-durably.ts";
import { integer } from "../ffi/foreign.ts";
import { HostError } from "../host-error.ts";
import type { OwnedFd } from "../owned-fd.ts";
import { entryName } from "./entry-name.ts";
import * as calls from "./file-calls.ts";
import { type DeviceNumber, joinDeviceNumber, typeBits } from "./file-status.ts";
import type { SafePath } from "./safe-path.ts";

/**
 * Creates a directory and returns it, opened. The mode is subject to the process's umask. A process that may
 * write to the parent can replace it with another directory, but never with a link or anything else.
 */
export function makeDirectory(parent: SafePath, name: string, mode = 0o755): SafePath {
  parent.expect("directory");
  calls.mkdirat(parent.fd, entryName(name), mode, `${parent.description}/${name}`);
  return parent.child(name, "directory");
}

/** What {@link makeNode} creates. */
export type NodeSpec =
  | { readonly type: "char" | "block"; readonly device: DeviceNumber; readonly mode?: number }
  | { readonly type: "fifo" | "socket"; readonly mode?: number };

/**
 * Creates a device node, FIFO or socket inode and returns it, opened. The handle refers to whatever
 * has that name just afterwards. Its type and device numbers are compared with the request, so that
 * a node that was swapped in is not handed out.
 */
export function makeNode(parent: SafePath, name: string, spec: NodeSpec): SafePath {
  parent.expect("directory");
  const device = "device" in spec ? spec.device : { major: 0, minor: 0 };
  integer(device.major, 0, 0xfff, "device.major");
  integer(device.minor, 0, 0xfffff, "device.minor");
  const mode = typeBits[spec.type] | integer(spec.mode ?? 0o600, 0, 0o7777, "mode");
  const touched = `${parent.description}/${entryName(name)}`;
  calls.mknodat(parent.fd, name, mode, joinDeviceNumber(device), touched);
  const node = parent.child(name, spec.type);
  const found = node.stat().device;
  if (found.major === device.major && found.minor === device.minor) return node;
  node.close();
  throw new HostError("HOST_PATH_UNSAFE", `${touched} was replaced while it was being created`, {
    path: touched,
  });
}

/** Options of {@link createFile} and {@link replaceFile}. */
export interface CreateOptions {
  /** Permission bits, set exactly. Default 0600. */
  readonly mode?: number;
  readonly owner?: { readonly uid: number; readonly gid: number };
}

/** Creates a new file (`EEXIST` otherwise) with this content, and syncs it to disk. */
export function createFile(
  parent: SafePath,
  name: string,
  content: string | Buffer,
  { mode = 0o600, owner }: CreateOptions = {},
): void {
  const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY;
  using file = parent.openEntry(entryName(name), flags, 0o600);
  if (owner) calls.chownDescriptor(file.fd, owner.uid, owner.gid, file.what);
  try {
    fchmodSync(file.fd, integer(mode, 0, 0o7777, "mode"));
  } catch (error) {
    throw HostError.from(error, file.what);
  }
  writeAll(file, content);
}

/**
 * Puts a file with this content under `name`, atomically: readers see the old one or the new one.
 * Whatever had the name before, including a symlink, is replaced and not followed.
 */
export function replaceFile(
  parent: SafePath,
  name: string,
  content: string | Buffer,
  options: CreateOptions = {},
): void {
  // Must not be guessable: otherwise a process that may write here could keep the name taken.
  const temporary = `.${entryName(name).slice(0, 60)}.${randomUUID()}`;
  try {
    createFile(parent, temporary, content, options);
    renameEntry(parent, temporary, parent, name);
  } catch (error) {
    try {
      removeFile(parent, temporary);
    } catch {
      // The first error is the one to report.
    }
    throw error;
  }
}

/** Overwrites the content of exactly this regular file. */
export function overwriteFile(path: SafePath, content: string | Buffer): void {
  using file = path.open(constants.O_WRONLY);
  try {
    ftruncateSync(file.fd, 0);
  } catch (error) {
    throw HostError.from(error, path.description);
  }
  writeAll(file, content);
}

function writeAll(file: OwnedFd, content: string | Buffer): void {
  try {
    writeWhole(file.fd, content);
    fsyncSync(file.fd);
  } catch (error) {
    throw HostError.from(error, file.what);
  }
}

/** Removes an entry that is not a directory; for a symlink, removes the link itself. */
export function removeFile(parent: SafePath, name: string): void {
  parent.expect("directory");
  calls.unlinkat(parent.fd, entryName(name), 0, `${parent.description}/${name}`);
}

/** Removes an empty directory. */
export function removeDirectory(parent: SafePath, name: string): void {
  parent.expect("directory");
  const flags = calls.fileFlags.removeDirectory;
  calls.unlinkat(parent.fd, entryName(name), flags, `${parent.description}/${name}`);
}

/** Renames an entry between two open directories. `noReplace` refuses (`EEXIST`) where the target exists. */
export function renameEntry(
  from: SafePath,
  fromName: string,
  to: SafePath,
  toName: string,
  mode: keyof typeof calls.renameFlags = "replace",
): void {
  calls.renameat2(
    { directory: from.expect("directory").fd, name: entryName(fromName) },
    { directory: to.expect("directory").fd, name: entryName(toName) },
    calls.renameFlags[mode],
    `${from.description}/${fromName}`,
  );
}
