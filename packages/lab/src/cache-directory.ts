import { homedir } from "node:os";
import { join } from "node:path";

/**
 * The path of a folder for things that are expensive to create and can be recreated at any time.
 */
export function cacheDirectory(name: string): string {
  const root = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  return join(root, "virtkit", name);
}
