import { readdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { CpioEntry } from "./cpio-archive.ts";
import { sharedLibraries } from "./shared-libraries.ts";

/** Where programs of `runInGuest` find packages: those below this folder in the guest. */
export const guestPackages = "virtkit";

/**
 * A package as Node in a guest finds it by its name: `package.json`, and what it runs of `dist`, or of the whole package
 * if it has none. Native modules come with the libraries that they need.
 */
export async function packageInGuest(directory: string): Promise<readonly CpioEntry[]> {
  const root = await realpath(directory);
  const { name } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
    name: string;
  };
  const found = await readdir(root, { recursive: true, withFileTypes: true });
  const below = (file: { parentPath: string; name: string }): string =>
    join(file.parentPath, file.name).slice(root.length + 1);
  const isBuilt = found.some((file) => file.isDirectory() && below(file) === "dist");
  const files = found
    .filter((file) => file.isFile())
    .map(below)
    .filter((file) => file === "package.json" || /\.(c?js|node)$/.test(file))
    .filter((file) => !isBuilt || file === "package.json" || file.startsWith("dist/"))
    .filter((file) => !file.startsWith("node_modules/") && !file.startsWith("musl_"));
  const place = `${guestPackages}/node_modules/${name}`;
  const paths = files.map((file) => `${place}/${file}`);
  const libraries = files.filter((file) => file.endsWith(".node"));
  return [
    ...[...new Set(paths.flatMap(parents))].map((path) => ({ path, kind: "directory" as const })),
    ...(await Promise.all(
      files.map(async (file) => ({
        path: `${place}/${file}`,
        kind: "file" as const,
        data: await readFile(join(root, file)),
      })),
    )),
    ...(await Promise.all(libraries.map((file) => sharedLibraries(join(root, file))))).flat(),
  ];
}

/** The folders above a path, outermost first. */
function parents(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
}
