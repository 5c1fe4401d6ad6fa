import { realpathSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { removeDurably, writeDurably } from "@virtkit/host-primitives/durable";

/**
 * The owner of a Pod of local mode. Cgroups, network namespaces and nftables tables belong to the
 * host, and their names do not say which state directory they are from; this note does, even if the
 * directory's own files are damaged. It exists from before the first of them until after the last.
 */
export interface PodOwner {
  readonly podUid: string;
  /** As the kernel resolves it: without links. */
  readonly stateDirectory: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** What stands among the notes; without an owner it could not be read. */
export interface ListedOwner {
  readonly podUid: string;
  readonly file: string;
  readonly owner?: PodOwner;
}

/** Until the host's next boot, like everything that the notes are about. */
const defaultFolder = "/run/virtkit/pods";

/** Writes a Pod's note. Call it before anything of the Pod is created in the kernel. */
export function notePodOwner(owner: PodOwner, folder: string = defaultFolder): void {
  const stateDirectory = canonicalDirectory(owner.stateDirectory);
  const file = fileOf(folder, owner.podUid);
  writeDurably(file, JSON.stringify({ version: 1, ...owner, stateDirectory }));
}

/** Call it after all of the Pod in the kernel is gone. */
export function forgetPodOwner(podUid: string, folder: string = defaultFolder): void {
  removeDurably(fileOf(folder, podUid));
}

/** All notes of this host. Throws if they cannot be listed. */
export async function listPodOwners(folder: string = defaultFolder): Promise<ListedOwner[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const uids = names.flatMap((name) => /^([0-9a-f-]{36})\.json$/.exec(name)?.[1] ?? []);
  return await Promise.all(uids.sort().map((podUid) => readOwner(folder, podUid)));
}

async function readOwner(folder: string, podUid: string): Promise<ListedOwner> {
  const file = fileOf(folder, podUid);
  try {
    const note = Object(JSON.parse(await readFile(file, "utf8"))) as Record<string, unknown>;
    const { version, stateDirectory, namespace, name } = note;
    const isWhole = version === 1 && note["podUid"] === podUid;
    if (!isWhole || typeof stateDirectory !== "string") return { podUid, file };
    const hasName = typeof namespace === "string" && typeof name === "string";
    const owner = { podUid, stateDirectory, ...(hasName ? { namespace, name } : {}) };
    return { podUid, file, owner };
  } catch {
    // Nothing follows from an unreadable note, least of all that nobody owns the Pod.
    return { podUid, file };
  }
}

function fileOf(folder: string, podUid: string): string {
  return join(folder, `${podUid}.json`);
}

/** The one path of a directory that may be named in several ways; of one that is gone, the path itself. */
export function canonicalDirectory(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // As said above: its own path, of one that is gone.
    return resolve(path);
  }
}
