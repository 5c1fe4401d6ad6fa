import { lstat, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";

/** One file of an image. */
export interface ImageFile {
  /** Where it is in the image, without a slash at its beginning. */
  readonly path: string;
  readonly kind: "file" | "directory" | "symlink";
  /** Permission bits. Default: 0755 */
  readonly mode?: number;
  /** Who owns it. Default: root */
  readonly uid?: number;
  /** The file of this host that it is a copy of. */
  readonly source?: string;
  /** Its content, or what a symlink points to, unless it is a copy. */
  readonly data?: string | Uint8Array;
}

/** Options of {@link filesBelow}. */
export interface FilesBelowOptions {
  /** Where the directory's content goes. Default: the root of the image */
  readonly at?: string;
  readonly uid?: number;
  /** Whether a file or directory, by its path in the directory, belongs to the image. Default: all do */
  readonly keep?: (path: string, isDirectory: boolean) => boolean;
}

/** Everything in a directory of this host, as files of an image; links stay links. */
export async function filesBelow(
  directory: string,
  { at = "", uid, keep = () => true }: FilesBelowOptions = {},
): Promise<ImageFile[]> {
  const files: ImageFile[] = [];
  // Not by a recursive `readdir`: that follows links, and links of packages lead in circles.
  const visit = async (folder: string): Promise<void> => {
    const entries = await readdir(join(directory, folder), { withFileTypes: true });
    for (const entry of entries) {
      const name = join(folder, entry.name);
      if (!keep(name, entry.isDirectory())) continue;
      files.push(await imageFile(join(directory, name), join(at, name), uid));
      if (entry.isDirectory()) await visit(name);
    }
  };
  await visit("");
  return files;
}

/** One file of this host as a file of an image. */
export async function imageFile(source: string, path: string, uid?: number): Promise<ImageFile> {
  const found = await lstat(source);
  const shared = { path, mode: found.mode & 0o7777, ...(uid === undefined ? {} : { uid }) };
  if (found.isDirectory()) return { ...shared, kind: "directory" };
  if (found.isSymbolicLink()) return { ...shared, kind: "symlink", data: await readlink(source) };
  return { ...shared, kind: "file", source };
}
