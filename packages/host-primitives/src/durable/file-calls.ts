import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";

/** The file system calls of a durable write: a parameter, so that a test can crash at each call. */
export interface FileCalls {
  /** Creates missing parents, too; returns the first directory that it created. */
  mkdir(path: string): string | undefined;
  /** `wx`: a new file; `w`: an empty file; `r`: a directory, to sync it. Writes append. */
  open(path: string, flags: "wx" | "w" | "r"): number;
  /** May write less than it was given; returns the number of bytes. */
  write(fd: number, bytes: Uint8Array): number;
  sync(fd: number): void;
  close(fd: number): void;
  rename(from: string, to: string): void;
  link(from: string, to: string): void;
  unlink(path: string): void;
  read(path: string): string;
}

/** The host's own calls. Only the owner can access what they create. */
export const nodeFiles: FileCalls = {
  mkdir: (path) => mkdirSync(path, { recursive: true, mode: 0o700 }),
  open: (path, flags) => openSync(path, flags, 0o600),
  write: (fd, bytes) => writeSync(fd, bytes),
  sync: fsyncSync,
  close: closeSync,
  rename: renameSync,
  link: linkSync,
  unlink: unlinkSync,
  read: (path) => readFileSync(path, "utf8"),
};
