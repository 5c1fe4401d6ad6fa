import { constants, writeSync } from "node:fs";
import { HostError, hasErrno } from "../host-error.ts";
import { OwnedFd } from "../owned-fd.ts";
import { makeDirectory, removeDirectory } from "../safe-path/change-entries.ts";
import { entryName } from "../safe-path/entry-name.ts";
import { currentDirectory, fileFlags, openat2, resolveFlags } from "../safe-path/file-calls.ts";
import { SafePath } from "../safe-path/safe-path.ts";
import type { CgroupPlace } from "./cgroup-layout.ts";
import { cgroupPath } from "./cgroup-layout.ts";

const beneath = resolveFlags.beneath | resolveFlags.noSymlinks | resolveFlags.noMagicLinks;

/**
 * An opened directory of a cgroup hierarchy. Its files are accessed only through the descriptor.
 */
export class Cgroup implements Disposable {
  readonly version: 1 | 2;
  readonly description: string;
  readonly #directory: SafePath;

  constructor(version: 1 | 2, directory: SafePath) {
    this.version = version;
    this.description = directory.description;
    this.#directory = directory;
  }

  /** The directory's descriptor, opened as a path. */
  get fd(): number {
    return this.#directory.fd;
  }

  close(): void {
    this.#directory.close();
  }

  [Symbol.dispose](): void {
    this.#directory.close();
  }

  /** Content of one of its files, trimmed; at most 1 MiB. */
  read(file: string): string {
    using path = this.#directory.child(file, "file");
    return path.read().toString("utf8").trim();
  }

  /** Writes one of its files in a single write, as the kernel requires. */
  write(file: string, value: string): void {
    const touched = `${this.description}/${entryName(file)}`;
    using handle = this.#directory.openEntry(file, constants.O_WRONLY, 0);
    try {
      writeSync(handle.fd, value);
    } catch (error) {
      throw HostError.from(error, `${touched} = ${JSON.stringify(value)}`);
    }
  }

  /** Opens a child, or creates it with `create`. */
  child(name: string, { create = false }: { readonly create?: boolean } = {}): Cgroup {
    if (create) {
      try {
        return new Cgroup(this.version, makeDirectory(this.#directory, name));
      } catch (error) {
        if (!hasErrno(error, "EEXIST")) throw error;
      }
    }
    return new Cgroup(this.version, this.#directory.child(name, "directory"));
  }

  /** Removes a child. It must have no tasks and no children; otherwise `EBUSY`. */
  removeChild(name: string): void {
    removeDirectory(this.#directory, name);
  }

  /** Moves a process with all its threads into this cgroup. */
  addProcess(pid: number): void {
    this.write("cgroup.procs", String(pid));
  }

  /** Moves one thread into this cgroup; on v2 the cgroup must be threaded. */
  addThread(tid: number): void {
    this.write(this.version === 1 ? "tasks" : "cgroup.threads", String(tid));
  }

  processes(): number[] {
    return numbers(this.read("cgroup.procs"));
  }

  threads(): number[] {
    return numbers(this.read(this.version === 1 ? "tasks" : "cgroup.threads"));
  }

  /** A descriptor of the directory itself, open for reading, for bpf(2). */
  openDirectory(): OwnedFd {
    const how = { flags: constants.O_RDONLY | constants.O_DIRECTORY, resolve: beneath };
    return new OwnedFd(openat2(this.fd, ".", how, this.description), this.description);
  }

  /** Opens `cgroup.procs` for a child that will join before it runs. */
  openProcs(): OwnedFd {
    return this.#directory.openEntry("cgroup.procs", constants.O_WRONLY, 0);
  }
}

function numbers(text: string): number[] {
  return text === "" ? [] : text.split("\n").map(Number);
}

/**
 * Opens a cgroup. The kernel resolves its path beneath the hierarchy's root without following any link, so a
 * path that contains `..` or a link is refused, no matter who wrote it.
 */
export function openCgroup({ version, root, path }: CgroupPlace): Cgroup {
  const below = cgroupPath(path).slice(1);
  const description = `${root}${path}`;
  const flags = fileFlags.path | constants.O_DIRECTORY;
  const how = { flags, resolve: resolveFlags.noMagicLinks };
  using hierarchy = new OwnedFd(openat2(currentDirectory, root, how, root), root);
  const fd = openat2(
    hierarchy.fd,
    below === "" ? "." : below,
    { flags, resolve: beneath },
    description,
  );
  return new Cgroup(version, new SafePath(new OwnedFd(fd, description), "directory"));
}
