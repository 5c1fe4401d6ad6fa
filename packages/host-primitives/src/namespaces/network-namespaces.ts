import { closeSync, mkdirSync, openSync, readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { HostError, hasErrno, isHostError } from "../host-error.ts";
import { detachByPath } from "../mounts/mount-calls.ts";
import { entryName } from "../safe-path/entry-name.ts";
import { type Namespace, openNamespace } from "./namespace.ts";
import { runIn } from "./run-in.ts";
import { shareDirectory } from "./share-directory.ts";

/** Where persistent network namespaces are kept. */
export interface NetworkNamespaceOptions {
  /** Default `/run/netns`, which `ip netns` uses. */
  readonly directory?: string;
}

const defaultDirectory = "/run/netns";

/**
 * Creates a network namespace that stays until it is deleted. `EEXIST` if the name is taken. The
 * directory of `ip netns` first becomes a shared mount of its own, as that program does it.
 */
export async function createNetworkNamespace(
  name: string,
  { directory = defaultDirectory }: NetworkNamespaceOptions = {},
): Promise<Namespace> {
  const file = join(directory, entryName(name));
  try {
    mkdirSync(directory, { recursive: true, mode: 0o755 });
    if (directory === defaultDirectory) await shareDirectory(directory);
    closeSync(openSync(file, "wx", 0o444));
  } catch (error) {
    throw HostError.from(error, file);
  }
  try {
    await runIn([], "persistNewNetwork", { file });
    return openNamespace("network", file);
  } catch (error) {
    unlinkSync(file);
    throw error;
  }
}

/**
 * Removes the name of a persistent network namespace; the namespace lives on while something uses
 * it. False if there is none.
 */
export function deleteNetworkNamespace(
  name: string,
  { directory = defaultDirectory }: NetworkNamespaceOptions = {},
): boolean {
  const file = join(directory, entryName(name));
  try {
    detachByPath(file);
  } catch (error) {
    // EINVAL: a file that is not a mount, left by a process that died between the two steps.
    if (hasErrno(error, "ENOENT")) return false;
    if (!hasErrno(error, "EINVAL")) throw error;
  }
  try {
    unlinkSync(file);
  } catch (error) {
    const failure = HostError.from(error, file);
    // Someone else removed it between the two steps.
    if (!hasErrno(failure, "ENOENT")) throw failure;
  }
  return true;
}

/**
 * Names of the persistent network namespaces, sorted. Files that are not namespaces are skipped.
 */
export function listNetworkNamespaces({
  directory = defaultDirectory,
}: NetworkNamespaceOptions = {}): string[] {
  return entries(directory)
    .filter((name) => isNetworkNamespace(join(directory, name)))
    .sort();
}

function entries(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    const failure = HostError.from(error, directory);
    if (hasErrno(failure, "ENOENT")) return [];
    throw failure;
  }
}

function isNetworkNamespace(path: string): boolean {
  try {
    openNamespace("network", path).close();
    return true;
  } catch (error) {
    if (isHostError(error)) return false;
    throw error;
  }
}
