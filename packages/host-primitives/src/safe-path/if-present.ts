import { hasErrno } from "../host-error.ts";
import type { SafePath } from "./safe-path.ts";

/** Opens a path, uses it and closes it; undefined if and only if nothing is there. */
export function ifPresent<T>(open: () => SafePath, use: (path: SafePath) => T): T | undefined {
  let opened: SafePath;
  try {
    opened = open();
  } catch (error) {
    if (hasErrno(error, "ENOENT")) return undefined;
    throw error;
  }
  using path = opened;
  return use(path);
}
