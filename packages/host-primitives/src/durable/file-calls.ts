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

/** What a durable write asks of the file system: a parameter, so that a test can crash at each call. */
export interface FileCalls {
  /** With all those above it; returns the first that it made. */
  mkdir(path: string): string | undefined;
  /** `wx`: a new file; `w`: an empty one; `r`: a directory, to sync it. What is written is appended. */
  open(path: string, flags: "wx" | "w" | "r"): number;
  /** May write less than it was given; returns how much. */
  write(fd: number, bytes: Uint8Array): number;
  sync(fd: number): void;
  close(fd: number): void;
  rename(from: string, to: string): void;
  link(from: string, to: string): void;
  unlink(path: string): void;
  read(path: string): string;
}

/** The host's own. What they make is the owner's alone. */
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
