import { existsSync } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { LabError } from "../lab-error.ts";
import { runProgram } from "../run-program.ts";
import { type ImageFile, imageFile } from "./image-file.ts";

/** The files of this host that go into an image. */
export interface HostFilesOptions {
  /** Debian packages whose files are taken. */
  readonly packages: readonly string[];
  /** Single programs, by name or path. */
  readonly programs: readonly string[];
  /** Whether a file of the packages is left out. */
  readonly without: (path: string) => boolean;
}

/** Text for people, and what only the host's own init would read. */
const unused =
  /^\/usr\/share\/(doc|man|locale|lintian|bug|bash-completion|apport|augeas|polkit-1)\/|^\/etc\/(init\.d|default|logrotate\.d|apparmor\.d|cron)|\/systemd\//;

/** Directories that Debian has moved below /usr; the old names are links. */
const moved = ["bin", "sbin", "lib", "lib64"];

/**
 * Files of this host's Debian packages and programs, with every library that they are linked with, as files
 * of an image at the same paths.
 */
export async function hostFiles(options: HostFilesOptions): Promise<ImageFile[]> {
  const listed = (await runProgram("dpkg", ["-L", ...options.packages])).split("\n");
  const wanted = listed.filter((path) => path.startsWith("/") && !unused.test(path));
  const programs = await Promise.all(options.programs.map(programPath));
  const paths = [...wanted.filter((path) => !options.without(path)), ...programs];
  const files = new Map<string, ImageFile>();
  const take = async (path: string): Promise<void> => {
    const place = underUsr(path);
    if (files.has(place) || moved.includes(path.slice(1)) || !existsSync(path)) return;
    const found = await lstat(path);
    if (found.isDirectory()) return;
    files.set(place, await imageFile(path, place.slice(1), 0));
    if (!found.isSymbolicLink()) return;
    const target = await realpath(path);
    if ((await lstat(target)).isFile()) await take(target);
  };
  for (const path of paths) await take(path);
  for (const library of await libraries([...files.values()])) await take(library);
  return [
    ...moved.map((name) => ({ path: name, kind: "symlink" as const, data: `usr/${name}` })),
    ...files.values(),
  ];
}

function underUsr(path: string): string {
  return moved.includes(path.split("/")[1] ?? "") ? `/usr${path}` : path;
}

const folders = ["/usr/sbin", "/usr/bin"];

async function programPath(name: string): Promise<string> {
  const path = [name, ...folders.map((folder) => `${folder}/${name}`)].find(
    (each) => each.startsWith("/") && existsSync(each),
  );
  if (path) return path;
  throw new LabError("LAB_IMAGE", `${name}: this host does not have it; install it`);
}

/**
 * Everything that the dynamic linker would load for these files; what they load later is among the
 * files.
 */
async function libraries(files: readonly ImageFile[]): Promise<string[]> {
  const sources = files.flatMap(({ source }) => source ?? []);
  const linked: string[] = [];
  for (const source of sources) if (await isElf(source)) linked.push(source);
  // It fails if one of them is not linked with anything.
  const output = await runProgram("sh", ["-c", 'ldd "$@" 2>/dev/null || true', "ldd", ...linked]);
  const found = output.split("\n").flatMap((line) => /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1] ?? []);
  // A library is found by its own name, and often is a link to one with its release.
  return [...new Set(found)].filter((path) => existsSync(dirname(path)));
}

async function isElf(path: string): Promise<boolean> {
  await using file = await open(path);
  const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
  return buffer.toString("latin1") === "\u007fELF";
}
