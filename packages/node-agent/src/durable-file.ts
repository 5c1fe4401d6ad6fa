import { closeSync, constants, fsyncSync, mkdirSync, openSync } from "node:fs";
import { basename, dirname } from "node:path";
import { openRoot, replaceFile } from "@virtkit/host-primitives/safe-path";

/** Puts a file in place of the old one, atomically; it has survived a crash of the machine once this returns. */
export function writeDurably(path: string, text: string): void {
  const directory = dirname(path);
  makeDirectoryDurably(directory);
  using root = openRoot(directory);
  using parent = root.directory();
  replaceFile(parent, basename(path), text);
  syncDirectory(directory);
}

/** Makes a directory of the agent's own, and those above it, with their names on disk. */
export function makeDirectoryDurably(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first !== undefined) syncDirectory(dirname(first));
}

/** Makes sure that names that were added to or removed from a directory stay so after a crash. */
export function syncDirectory(path: string): void {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
