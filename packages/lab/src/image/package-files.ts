import { existsSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { LabError } from "../lab-error.ts";
import { filesBelow, type ImageFile } from "./image-file.ts";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Packages of npm, as they are built and installed here, and all that they depend on, as files of an image:
 * side by side in one directory, where each finds the others. Another release of one that is there goes below
 * the package that needs it. Only what runs is taken, and of what was built here only what still has a source: the compiler
 * does not delete the rest, and it would make the same sources another image.
 *
 * @param roots directories of the packages
 * @param at the directory that they go to
 */
export async function packageFiles(roots: readonly string[], at: string): Promise<ImageFile[]> {
  /** By the path below `at`. */
  const found = new Map<string, { directory: string; version: string }>();
  const visit = async (directory: string, parent: string | undefined): Promise<void> => {
    const text = await readFile(join(directory, "package.json"), "utf8");
    const manifest = JSON.parse(text) as Manifest;
    const { name, version, dependencies = {}, optionalDependencies = {} } = manifest;
    const isOther = parent !== undefined && (found.get(name)?.version ?? version) !== version;
    const path = isOther ? join(parent, "node_modules", name) : name;
    if (found.has(path)) return;
    found.set(path, { directory, version });
    for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = await findPackage(directory, dependency);
      if (place) await visit(place, path);
      // What is optional is installed where it fits the host.
      else if (!(dependency in optionalDependencies)) {
        throw new LabError("LAB_IMAGE", `${name}: ${dependency} is not installed; install it`);
      }
    }
  };
  for (const root of roots) await visit(await realpath(root), undefined);
  const lists = await Promise.all(
    [...found].map(([path, { directory }]) =>
      filesBelow(directory, {
        ...{ at: join(at, path), uid: 0 },
        keep: (file, isDirectory) =>
          isRun(file, isDirectory) && (isDirectory || !isStale(directory, file)),
      }),
    ),
  );
  return lists.flat().filter(({ kind }) => kind === "file");
}

function isRun(path: string, isDirectory: boolean): boolean {
  if (isDirectory) return !/(^|\/)(node_modules|bench|cases)$/.test(path);
  return /\.([cm]?js|json|node)$/.test(path) && !path.includes(".test.");
}

/** Whether a file in `dist` of a package of this workspace has lost its source. Packages that were installed are complete. */
function isStale(directory: string, file: string): boolean {
  const [top, ...rest] = file.split("/");
  const isInstalled = directory.split("/").includes("node_modules");
  if (top !== "dist" || isInstalled || !existsSync(join(directory, "src"))) return false;
  const source = join(directory, "src", ...rest);
  return ![source, source.replace(/\.([cm]?)js$/, ".$1ts")].some((path) => existsSync(path));
}

/** As Node finds it: in the nearest directory upwards that has it. */
async function findPackage(from: string, name: string): Promise<string | undefined> {
  for (let folder = from; relative("/", folder) !== ""; folder = dirname(folder)) {
    const place = join(folder, "node_modules", name);
    if (existsSync(place)) return await realpath(place);
  }
  return undefined;
}
