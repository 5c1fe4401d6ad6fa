import { constants } from "node:fs";
import { HostError } from "../host-error.ts";
import { OwnedFd } from "../owned-fd.ts";
import { splitPath } from "./entry-name.ts";
import * as calls from "./file-calls.ts";
import type { FileType } from "./file-status.ts";
import { SafePath } from "./safe-path.ts";

/** The place of an entry that may not exist yet: its opened directory, and its name. */
export interface SafeEntry extends Disposable {
  readonly directory: SafePath;
  readonly name: string;
}

const inRoot = calls.resolveFlags.inRoot | calls.resolveFlags.noMagicLinks;

/**
 * An opened directory below which paths are resolved.
 *
 * Links among the parents are followed *inside* the root, as the process that lives there would
 * follow them (`/var/run` and a configMap's `..data` are such links). An absolute link or `..`
 * cannot leave the root, and the kernel's magic links (`/proc/<pid>/root`, `/proc/<pid>/fd/*`) are
 * refused.
 */
export class SafeRoot implements Disposable {
  readonly description: string;
  readonly #handle: OwnedFd;

  /** Takes over a descriptor of a directory that was opened as a path. */
  constructor(handle: OwnedFd) {
    this.#handle = handle;
    this.description = handle.what;
  }

  get fd(): number {
    return this.#handle.fd;
  }

  close(): void {
    this.#handle.close();
  }

  [Symbol.dispose](): void {
    this.#handle.close();
  }

  /**
   * Opens what `path` names below this root; it must exist. Throws `HOST_PATH_UNSAFE` if the last
   * component is a symlink or not of the wanted type, and the kernel's error (`ENOENT`, `ELOOP` for
   * a magic link, `ENOTDIR`) in a `HOST_SYSCALL_FAILED` otherwise.
   */
  resolve(path: string, wanted?: FileType | readonly FileType[]): SafePath {
    const { parent, name } = splitPath(path);
    const how = { flags: calls.fileFlags.path | constants.O_NOFOLLOW, resolve: inRoot };
    const description = `${this.description}:${path}`;
    const fd = calls.openat2(this.fd, `${parent}/${name}`, how, description);
    return new SafePath(new OwnedFd(fd, description), wanted);
  }

  /** The root itself as a path, with a descriptor of its own. */
  directory(): SafePath {
    return this.#openDirectory(".", this.description);
  }

  /** Opens the directory that `path` would be an entry of, for creating, renaming or removing it. */
  locate(path: string): SafeEntry {
    const { parent, name } = splitPath(path);
    const directory = this.#openDirectory(parent, `${this.description}:${parent}`);
    return { directory, name, [Symbol.dispose]: () => directory.close() };
  }

  #openDirectory(path: string, description: string): SafePath {
    const flags = calls.fileFlags.path | constants.O_DIRECTORY;
    const fd = calls.openat2(this.fd, path, { flags, resolve: inRoot }, description);
    return new SafePath(new OwnedFd(fd, description), "directory");
  }
}

/**
 * Opens a directory of the host itself as a root. The path is trusted: ordinary links in it are
 * followed. Magic links are not, so the root of a process is only available with the pidfd check,
 * from `ProcessHandle.openRoot()`.
 *
 * @example
 * using root = openRoot("/var/lib/kubelet/pods/6a1a24a1/volumes/disk");
 * using file = root.resolve("disk.img", "file");
 * file.chown(107, 107);
 */
export function openRoot(absolutePath: string): SafeRoot {
  if (!absolutePath.startsWith("/")) {
    const message = `root is ${JSON.stringify(absolutePath)}; use an absolute path`;
    throw new HostError("HOST_ARGUMENT_INVALID", message, { path: "absolutePath" });
  }
  const how = {
    flags: calls.fileFlags.path | constants.O_DIRECTORY,
    resolve: calls.resolveFlags.noMagicLinks,
  };
  const fd = calls.openat2(calls.currentDirectory, absolutePath, how, absolutePath);
  return new SafeRoot(new OwnedFd(fd, absolutePath));
}
