import { constants, openSync, readFileSync, writeFileSync } from "node:fs";
import { HostError } from "../host-error.ts";
import {
  type BindMountOptions,
  bindMount,
  detachedBind,
  mountTmpfs,
  type TmpfsOptions,
} from "../mounts/bind-mount.ts";
import {
  attachTree,
  bindByPath,
  changeMount,
  detachMount,
  mountPropagations,
  pivotToCurrentDirectory,
} from "../mounts/mount-calls.ts";
import { OwnedFd } from "../owned-fd.ts";
import { duplicate, fileFlags } from "../safe-path/file-calls.ts";
import { SafePath } from "../safe-path/safe-path.ts";
import { openSocket, type SocketSpec } from "../sockets/open-socket.ts";
import { createTap, removeTap, type TapSpec } from "../tap/create-tap.ts";
import { namespaceFlags } from "./namespace.ts";
import { enterDirectory, unshare } from "./namespace-calls.ts";

/** The result of an operation: plain data, and descriptors that the caller then owns. */
export interface OperationResult<T> {
  readonly value: T;
  readonly descriptors: readonly OwnedFd[];
}

/** An open object of the caller, by its number: threads share descriptors. */
export interface Borrowed {
  readonly fd: number;
  readonly description: string;
}

function result<T>(value: T, descriptors: readonly OwnedFd[] = []): OperationResult<T> {
  return { value, descriptors };
}

function borrow({ fd, description }: Borrowed): SafePath {
  return new SafePath(new OwnedFd(duplicate(fd, description), description));
}

function openDirectory(path: string): OwnedFd {
  const flags = fileFlags.path | constants.O_DIRECTORY | fileFlags.closeOnExec;
  try {
    return new OwnedFd(openSync(path, flags), path);
  } catch (error) {
    throw HostError.from(error, path);
  }
}

/**
 * This process's descriptors by name, opened at home. In another mount namespace, `/proc` may
 * belong to another pid namespace, in which this process has no entry, or may be missing.
 */
const ownDescriptors = openDirectory("/proc/self/fd");

function openOwnMountNamespace(): OwnedFd {
  const path = "/proc/thread-self/ns/mnt";
  try {
    return new OwnedFd(openSync(path, constants.O_RDONLY | fileFlags.closeOnExec), path);
  } catch (error) {
    throw HostError.from(error, path);
  }
}

const sysctlName = /^net(\/[A-Za-z0-9_][A-Za-z0-9_.@-]*)+$/;

function sysctlPath(name: string): string {
  // Only net/ follows the namespace of the thread; `..` and absolute names cannot match.
  if (sysctlName.test(name) && !name.includes("..")) return `/proc/sys/${name}`;
  const message = `name is ${JSON.stringify(name)}; use one below net, such as net/ipv4/ip_forward`;
  throw new HostError("HOST_ARGUMENT_INVALID", message, { path: "name" });
}

function accessSysctl<T>(name: string, access: (path: string) => T): T {
  const path = sysctlPath(name);
  try {
    return access(path);
  } catch (error) {
    throw HostError.from(error, path);
  }
}

/**
 * Everything that can be done inside a namespace: a closed list of synchronous functions that take
 * plain data. Foreign code never runs there, and foreign paths are never used.
 */
export const operations = {
  /** Creates a TAP; its queues are the descriptors. */
  createTap(spec: TapSpec): OperationResult<{ readonly name: string }> {
    const { name, queues } = createTap(spec);
    return result({ name }, queues);
  },
  removeTap(spec: Pick<TapSpec, "name" | "queues" | "vnetHeader">): OperationResult<null> {
    removeTap(spec);
    return result(null);
  },
  /** Opens a socket that stays in the namespace; it is the only descriptor returned. */
  openSocket(spec: SocketSpec): OperationResult<null> {
    return result(null, [openSocket(spec)]);
  },
  /** Reads a setting below `/proc/sys/net`. */
  readSysctl({ name }: { readonly name: string }): OperationResult<string> {
    return result(accessSysctl(name, (path) => readFileSync(path, "utf8")).trim());
  },
  /** Writes a setting below `/proc/sys/net`. */
  writeSysctl(setting: { readonly name: string; readonly value: string }): OperationResult<null> {
    accessSysctl(setting.name, (path) => writeFileSync(path, `${setting.value}\n`));
    return result(null);
  },
  /** Names of the network interfaces. */
  listInterfaces(_: Record<string, never>): OperationResult<readonly string[]> {
    // /proc/net and /sys/class/net show the main thread's namespace; this file shows the current
    // one.
    const lines = readFileSync("/proc/thread-self/net/dev", "utf8").split("\n").slice(2);
    const names = lines.map((line) => line.slice(0, line.lastIndexOf(":")).trim());
    return result(names.filter((name) => name !== ""));
  },
  /** Clones a mount of the namespace; the descriptor is the detached copy. */
  detachedBind(request: {
    readonly source: Borrowed;
    readonly options?: BindMountOptions;
  }): OperationResult<null> {
    using source = borrow(request.source);
    return result(null, [detachedBind(source, request.options)]);
  },
  /** Attaches a detached mount at an object of the namespace. */
  attachMount(request: {
    readonly mount: Borrowed;
    readonly target: Borrowed;
  }): OperationResult<null> {
    using target = borrow(request.target);
    attachTree(request.mount.fd, target.fd, target.description);
    return result(null);
  },
  bindMount(request: {
    readonly source: Borrowed;
    readonly target: Borrowed;
    readonly options?: BindMountOptions;
  }): OperationResult<null> {
    using source = borrow(request.source);
    using target = borrow(request.target);
    bindMount(source, target, request.options);
    return result(null);
  },
  mountTmpfs(request: {
    readonly target: Borrowed;
    readonly options?: TmpfsOptions;
  }): OperationResult<null> {
    using target = borrow(request.target);
    mountTmpfs(target, request.options);
    return result(null);
  },
  /** Whether there was a mount to remove. */
  unmount(request: { readonly target: Borrowed }): OperationResult<boolean> {
    using target = borrow(request.target);
    if (!target.isMountRoot()) return result(false);
    using root = openDirectory("/");
    enterDirectory(ownDescriptors.fd);
    try {
      detachMount(String(target.fd), target.description);
    } finally {
      enterDirectory(root.fd);
    }
    return result(true);
  },
  /** The root directory of the mount namespace, opened as a path. */
  openRoot(_: Record<string, never>): OperationResult<null> {
    return result(null, [openDirectory("/")]);
  },
  /** Creates a mount namespace with the given directory as its root and no other mounts. */
  createRootNamespace(request: { readonly root: Borrowed }): OperationResult<null> {
    using source = borrow(request.root).expect("directory");
    using tree = detachedBind(source, { recursive: true });
    unshare(namespaceFlags.mount);
    const namespace = openOwnMountNamespace();
    try {
      using old = openDirectory("/");
      changeMount(old.fd, { propagation: mountPropagations.private, recursive: true }, "/");
      // Any directory will do as the place of the new root: the old tree is dropped immediately.
      using place = openDirectory("/proc");
      attachTree(tree.fd, place.fd, source.description);
      enterDirectory(tree.fd);
      pivotToCurrentDirectory();
      detachMount(".", "the old root");
      return result(null, [namespace]);
    } catch (error) {
      namespace.close();
      throw error;
    }
  },
  /** Creates a network namespace and binds it to an existing file, so that it stays. */
  persistNewNetwork({ file }: { readonly file: string }): OperationResult<null> {
    unshare(namespaceFlags.network);
    bindByPath("/proc/thread-self/ns/net", file);
    return result(null);
  },
} as const;

export type Operations = typeof operations;
export type OperationName = keyof Operations;
export type OperationArguments<N extends OperationName> = Parameters<Operations[N]>[0];
export type OperationValue<N extends OperationName> = ReturnType<Operations[N]>["value"];
