import { constants, openSync, readlinkSync } from "node:fs";
import { HostError, hasErrno } from "../host-error.ts";
import { Namespace, type NamespaceKind, namespaceFiles } from "../namespaces/namespace.ts";
import { OwnedFd } from "../owned-fd.ts";
import { fileFlags, openat2, resolveFlags } from "../safe-path/file-calls.ts";
import { readBounded } from "../safe-path/safe-path.ts";
import { SafeRoot } from "../safe-path/safe-root.ts";
import { type ProcessStatus, parseStatus } from "./parse-status.ts";
import { pidfdOpen, pidfdSendSignal } from "./pidfd-calls.ts";

/** Files of `/proc/<pid>` that {@link ProcessHandle.read} reads. */
export type ProcessFile =
  | "status"
  | "cgroup"
  | "mountinfo"
  | "stat"
  | "cmdline"
  | "comm"
  | "attr/current"
  | "limits";

const maxProcBytes = 16 * 1024 * 1024;

/**
 * One process, for as long as the handle is open: a pidfd and its `/proc` directory.
 *
 * The directory is opened between `pidfd_open` and a check that the pidfd's process still exists. A pid is
 * not reused while its process exists, so both mean the same process, and an open `/proc` directory never
 * refers to another one. If the pid is reused later, every function throws `HOST_PROCESS_GONE` instead of
 * answering about another process.
 */
export class ProcessHandle implements Disposable {
  readonly pid: number;
  readonly #pidfd: OwnedFd;
  readonly #directory: OwnedFd;

  /** Takes over a pidfd that is known to belong to `pid`. */
  constructor(pid: number, pidfd: OwnedFd) {
    this.pid = pid;
    this.#pidfd = pidfd;
    try {
      const flags = fileFlags.path | constants.O_DIRECTORY | fileFlags.closeOnExec;
      this.#directory = new OwnedFd(openSync(`/proc/${pid}`, flags), `/proc/${pid}`);
    } catch (error) {
      pidfd.close();
      const failure = HostError.from(error, `/proc/${pid}`);
      throw hasErrno(failure, "ENOENT") ? gone(pid, error) : failure;
    }
    try {
      this.assertAlive();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Opens the process that has this pid now; `HOST_PROCESS_GONE` if there is none. */
  static open(pid: number): ProcessHandle {
    try {
      return new ProcessHandle(pid, new OwnedFd(pidfdOpen(pid), `pidfd of ${pid}`));
    } catch (error) {
      throw hasErrno(error, "ESRCH") ? gone(pid, error) : error;
    }
  }

  /** The pidfd; it becomes readable when the process ends. */
  get pidfd(): number {
    return this.#pidfd.fd;
  }

  close(): void {
    this.#pidfd.close();
    this.#directory?.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Whether the process still exists; a zombie counts. */
  isAlive(): boolean {
    try {
      pidfdSendSignal(this.pidfd, 0, `pid ${this.pid}`);
      return true;
    } catch (error) {
      if (hasErrno(error, "ESRCH")) return false;
      if (hasErrno(error, "EPERM")) return true;
      throw error;
    }
  }

  assertAlive(): void {
    if (!this.isAlive()) throw gone(this.pid);
  }

  signal(signal: number): void {
    try {
      pidfdSendSignal(this.pidfd, signal, `pid ${this.pid}`);
    } catch (error) {
      throw hasErrno(error, "ESRCH") ? gone(this.pid, error) : error;
    }
  }

  /** Content of one of the process's `/proc` files, at most 16 MiB. */
  read(file: ProcessFile): string {
    return this.#guard(() => {
      using handle = this.#open(file, constants.O_RDONLY, resolveFlags.noSymlinks);
      return readBounded(handle.fd, maxProcBytes, handle.what).toString("utf8");
    });
  }

  status(): ProcessStatus {
    return parseStatus(this.read("status"));
  }

  /** The process's root directory, opened once. `/` inside it is the root as the process sees it. */
  openRoot(): SafeRoot {
    return this.#guard(() => {
      const handle = this.#open("root", fileFlags.path | constants.O_DIRECTORY, 0);
      return new SafeRoot(handle);
    });
  }

  /** Opens one of the process's namespaces. */
  openNamespace(kind: NamespaceKind): Namespace {
    return this.#guard(() => {
      const handle = this.#open(`ns/${namespaceFiles[kind]}`, constants.O_RDONLY, 0);
      return new Namespace(kind, handle);
    });
  }

  /**
   * Identities of the process's namespaces, such as `net:[4026531840]`; equal strings mean the same
   * namespace. Those that this process may not see are left out.
   */
  namespaceIdentities(): Readonly<Partial<Record<NamespaceKind, string>>> {
    return this.#guard(() => {
      const found: Partial<Record<NamespaceKind, string>> = {};
      for (const [kind, file] of Object.entries(namespaceFiles)) {
        const identity = readIdentity(`${this.#directory.procPath}/ns/${file}`);
        if (identity !== undefined) found[kind as NamespaceKind] = identity;
      }
      return found;
    });
  }

  #open(path: string, flags: number, resolve: number): OwnedFd {
    const what = `/proc/${this.pid}/${path}`;
    return new OwnedFd(openat2(this.#directory.fd, path, { flags, resolve }, what), what);
  }

  /**
   * Runs a read of `/proc` and turns a process that disappears meanwhile into `HOST_PROCESS_GONE`.
   */
  #guard<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (hasErrno(error, "ESRCH", "ENOENT") && !this.isAlive()) throw gone(this.pid, error);
      throw error;
    }
  }
}

function readIdentity(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    const failure = HostError.from(error, path);
    // Kernels differ in the namespaces that they have, and show them only to those who may trace
    // the process.
    if (hasErrno(failure, "ENOENT", "EACCES", "EPERM")) return undefined;
    throw failure;
  }
}

function gone(pid: number, cause?: unknown): HostError {
  const message = `process ${pid} has ended; look it up again`;
  return new HostError("HOST_PROCESS_GONE", message, { path: `pid ${pid}`, cause });
}
