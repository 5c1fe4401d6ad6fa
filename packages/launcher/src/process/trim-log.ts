import { fstatSync, ftruncateSync, readFileSync, readSync, writeSync } from "node:fs";

/** How {@link trimLog} trims. */
export interface TrimOptions {
  /** Size beyond which a log is trimmed. */
  readonly mostBytes: number;
  /** How much of the newest content is kept. */
  readonly keptBytes: number;
}

const appends = 0o2000;
const accessMode = 0o3;
const readsAndWrites = 0o2;

/**
 * Removes the oldest lines of a log that others also write to, and returns whether it did. It works
 * in place, because writers keep their descriptors; what another process writes in between is lost.
 * Only touches a file that is open for reading and appending: otherwise the writers would continue
 * beyond the new end.
 */
export function trimLog(fd: number, { mostBytes, keptBytes }: TrimOptions): boolean {
  const stat = fstatSync(fd);
  if (!stat.isFile() || stat.size <= mostBytes || !isAppending(fd)) return false;
  const newest = Buffer.alloc(keptBytes);
  const length = readSync(fd, newest, 0, keptBytes, stat.size - keptBytes);
  const firstLine = newest.indexOf("\n") + 1;
  ftruncateSync(fd, 0);
  writeSync(fd, newest, firstLine, length - firstLine);
  return true;
}

function isAppending(fd: number): boolean {
  const [, text = "0"] =
    /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8")) ?? [];
  const flags = Number.parseInt(text, 8);
  return (flags & appends) !== 0 && (flags & accessMode) === readsAndWrites;
}
