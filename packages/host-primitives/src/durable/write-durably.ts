import { randomUUID } from "node:crypto";
import { dirname, resolve } from "node:path";
import { HostError } from "../host-error.ts";
import { type FileCalls, nodeFiles } from "./file-calls.ts";

/**
 * Replaces a file atomically, and creates the directories above it. A crash at any point leaves
 * either the old file or the new one, complete. Once this returns, the new one survives even a
 * crash of the host. The directory belongs to the caller and is trusted. Throws a `HostError`.
 */
export function writeDurably(path: string, content: string, files: FileCalls = nodeFiles): void {
  attempt(path, () => {
    const fresh = writeFresh(path, content, files);
    try {
      files.rename(fresh, path);
    } catch (error) {
      discard(fresh, files);
      throw error;
    }
    syncDirectory(dirname(path), files);
  });
}

/**
 * Like {@link writeDurably}, but only if nothing has that name yet.
 *
 * @returns false if the name is taken; then nothing changes.
 */
export function createDurably(
  path: string,
  content: string,
  files: FileCalls = nodeFiles,
): boolean {
  return attempt(path, () => {
    const fresh = writeFresh(path, content, files);
    try {
      // Unlike a rename, a link replaces nothing.
      files.link(fresh, path);
      return true;
    } catch (error) {
      if (codeOf(error) === "EEXIST") return false;
      throw error;
    } finally {
      files.unlink(fresh);
      syncDirectory(dirname(path), files);
    }
  });
}

/** Removes a file. It stays gone after a crash. Removing what is not there is not an error. */
export function removeDurably(path: string, files: FileCalls = nodeFiles): void {
  attempt(path, () => {
    // Synced even if it is already gone: the process that removed it may have crashed before the sync.
    for (const step of [() => files.unlink(path), () => syncDirectory(dirname(path), files)]) {
      try {
        step();
      } catch (error) {
        if (codeOf(error) !== "ENOENT") throw error;
      }
    }
  });
}

/** Creates a directory and its parents, with their names on disk. */
export function makeDirectoryDurably(path: string, files: FileCalls = nodeFiles): void {
  attempt(path, () => {
    const first = files.mkdir(path);
    if (first === undefined) return;
    const top = dirname(resolve(first));
    for (let above = resolve(path); above !== top; ) {
      above = dirname(above);
      syncDirectory(above, files);
    }
  });
}

/** Makes sure that entries added to or removed from a directory survive a crash. */
export function syncDirectory(path: string, files: FileCalls = nodeFiles): void {
  const fd = files.open(path, "r");
  try {
    files.sync(fd);
  } finally {
    files.close(fd);
  }
}

/** Writes all bytes: the kernel may take fewer at a time. */
export function writeWhole(
  fd: number,
  content: string | Uint8Array,
  files: FileCalls = nodeFiles,
): void {
  for (let rest: Uint8Array = Buffer.from(content); rest.length > 0; ) {
    rest = rest.subarray(files.write(fd, rest));
  }
}

/** The temporary name says who is writing; see {@link writerOf}. */
function writeFresh(path: string, content: string, files: FileCalls): string {
  makeDirectoryDurably(dirname(path), files);
  const fresh = `${path}.${process.pid}.${randomUUID()}`;
  const fd = files.open(fresh, "wx");
  try {
    writeWhole(fd, content, files);
    files.sync(fd);
  } catch (error) {
    discard(fresh, files);
    throw error;
  } finally {
    files.close(fd);
  }
  return fresh;
}

function discard(fresh: string, files: FileCalls): void {
  try {
    files.unlink(fresh);
  } catch {
    // The first error is the one to report.
  }
}

/**
 * The process that was writing a file of this name and did not finish; undefined for any other
 * file.
 */
export function writerOf(fileName: string): number | undefined {
  const pid = /\.(\d+)\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.exec(fileName)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

function attempt<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw HostError.from(error, path);
  }
}

function codeOf(error: unknown): unknown {
  return (Object(error) as NodeJS.ErrnoException).code;
}
