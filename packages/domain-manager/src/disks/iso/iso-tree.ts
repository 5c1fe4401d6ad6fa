import { DiskError } from "../disk-error.ts";
import type { MediaFile } from "../media.ts";

/** A file of an image. Both trees of the image point to the same content. */
export interface IsoFile {
  readonly kind: "file";
  readonly name: string;
  readonly mode: number;
  readonly content: Uint8Array;
  /** First sector of the content. */
  sector: number;
}

/** A directory of an image. */
export interface IsoDirectory {
  readonly kind: "directory";
  readonly name: string;
  readonly children: Map<string, IsoDirectory | IsoFile>;
}

/** Limits of a medium. */
export interface MediaLimits {
  /** Sum of all files in bytes. Default 64 MiB: Secrets and ConfigMaps hold at most 1 MiB each. */
  readonly maxBytes?: number;
  /** Files on the medium. Default 10000. */
  readonly maxFiles?: number;
}

const deepest = 32;
const longestName = 255;

/**
 * The tree of a medium's files.
 *
 * @throws DiskError if a path is empty, absolute, leaves the medium, has a part of over 255 bytes or
 *   over 32 parts, is there twice, or lies below a file; or if the limits are exceeded.
 */
export function isoTree(
  files: readonly MediaFile[],
  { maxBytes = 64 << 20, maxFiles = 10_000 }: MediaLimits = {},
): IsoDirectory {
  const root = directory("");
  let bytes = 0;
  if (files.length > maxFiles)
    throw tooLarge(`${files.length} files, over the limit of ${maxFiles}`);
  for (const file of files) {
    const content = file.content.reveal();
    bytes += content.length;
    if (bytes > maxBytes) throw tooLarge(`over the limit of ${maxBytes} bytes`);
    add(root, file, content);
  }
  return root;
}

function directory(name: string): IsoDirectory {
  return { kind: "directory", name, children: new Map() };
}

function add(root: IsoDirectory, { path, mode = 0o444 }: MediaFile, content: Uint8Array): void {
  const parts = path.split("/");
  const name = parts.at(-1) ?? "";
  if (parts.length > deepest) throw refused(path, `over ${deepest} parts`);
  let parent = root;
  for (const part of parts) {
    if (!isName(part)) throw refused(path, `"${part}" is not a file name`);
  }
  for (const part of parts.slice(0, -1)) {
    const child = parent.children.get(part) ?? directory(part);
    if (child.kind === "file") throw refused(path, `"${part}" is a file`);
    parent.children.set(part, child);
    parent = child;
  }
  if (parent.children.has(name)) throw refused(path, "there twice");
  parent.children.set(name, { kind: "file", name, mode, content, sector: 0 });
}

function isName(part: string): boolean {
  if (part === "" || part === "." || part === ".." || part.includes("\0")) return false;
  return Buffer.byteLength(part) <= longestName;
}

function refused(path: string, what: string): DiskError {
  const shown = JSON.stringify(path.slice(0, 300));
  return new DiskError("DISK_SOURCE_REFUSED", `medium: ${shown}: ${what}`, { path });
}

function tooLarge(what: string): DiskError {
  return new DiskError("DISK_TOO_LARGE", `medium: ${what}; attach a disk image instead`);
}
