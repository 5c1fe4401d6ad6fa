import { constants, openSync } from "node:fs";
import { done, foreign } from "../ffi/foreign.ts";
import { HostError } from "../host-error.ts";
import { OwnedFd } from "../owned-fd.ts";
import { fileFlags } from "../safe-path/file-calls.ts";
import { fileStatus } from "../safe-path/file-status.ts";

/** Kinds of namespace. */
export type NamespaceKind =
  | "network"
  | "mount"
  | "uts"
  | "ipc"
  | "cgroup"
  | "pid"
  | "user"
  | "time";

/** Names of the kinds in `/proc/<pid>/ns`. */
export const namespaceFiles: Readonly<Record<NamespaceKind, string>> = {
  network: "net",
  mount: "mnt",
  uts: "uts",
  ipc: "ipc",
  cgroup: "cgroup",
  pid: "pid",
  user: "user",
  time: "time",
};

/** The kernel's `CLONE_NEW*` bit of each kind. */
export const namespaceFlags: Readonly<Record<NamespaceKind, number>> = {
  network: 0x40000000,
  mount: 0x00020000,
  uts: 0x04000000,
  ipc: 0x08000000,
  cgroup: 0x02000000,
  pid: 0x20000000,
  user: 0x10000000,
  time: 0x00000080,
};

/** A namespace that is held open: it lives at least as long as this object. */
export class Namespace implements Disposable {
  readonly kind: NamespaceKind;
  readonly #handle: OwnedFd;

  constructor(kind: NamespaceKind, handle: OwnedFd) {
    this.kind = kind;
    this.#handle = handle;
  }

  get fd(): number {
    return this.#handle.fd;
  }

  get description(): string {
    return this.#handle.what;
  }

  /** Identity, such as `net:[4026531840]`; equal strings mean the same namespace. */
  identity(): string {
    return `${namespaceFiles[this.kind]}:[${fileStatus(this.fd, this.description).inode}]`;
  }

  close(): void {
    this.#handle.close();
  }

  [Symbol.dispose](): void {
    this.#handle.close();
  }
}

// Needed: returns the kind of an opened namespace, so that a wrong or foreign file is refused.
// Safe: NS_GET_NSTYPE takes no argument; for any other file the kernel returns ENOTTY.
const nativeIoctl = foreign("int", "ioctl", ["int", "uint64", "long"]);

const getNamespaceType = 0xb703;

/**
 * Opens a namespace by a path of the host, such as `/run/netns/blue` or `/proc/self/ns/net`; for
 * another process use `ProcessHandle.openNamespace`. Throws if the file is not a namespace of that
 * kind.
 */
export function openNamespace(kind: NamespaceKind, path: string): Namespace {
  let handle: OwnedFd;
  try {
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | fileFlags.closeOnExec;
    handle = new OwnedFd(openSync(path, flags), path);
  } catch (error) {
    throw HostError.from(error, path);
  }
  try {
    const flag = done(nativeIoctl(handle.fd, getNamespaceType, 0), "ioctl(NS_GET_NSTYPE)", path);
    if (flag === namespaceFlags[kind]) return new Namespace(kind, handle);
  } catch (error) {
    handle.close();
    throw notNamespace(kind, path, error);
  }
  handle.close();
  throw notNamespace(kind, path);
}

function notNamespace(kind: NamespaceKind, path: string, cause?: unknown): HostError {
  const message = `${path} is not a ${kind} namespace`;
  return new HostError("HOST_ARGUMENT_INVALID", message, { path, cause });
}
