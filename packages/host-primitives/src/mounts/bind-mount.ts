import { HostError } from "../host-error.ts";
import { OwnedFd } from "../owned-fd.ts";
import type { SafePath } from "../safe-path/safe-path.ts";
import * as calls from "./mount-calls.ts";

/** Options of a mount. */
export interface MountOptions {
  readonly readOnly?: boolean;
  readonly noSuid?: boolean;
  readonly noDev?: boolean;
  readonly noExec?: boolean;
  /** How later mounts below it propagate. Default: like the source. */
  readonly propagation?: keyof typeof calls.mountPropagations;
}

/** Options of {@link bindMount}. */
export interface BindMountOptions extends MountOptions {
  /** Whether mounts below the source are included. Default false. */
  readonly recursive?: boolean;
}

/** The attribute bits of mount options. */
export function mountAttributeBits(options: MountOptions): number {
  let bits = 0;
  for (const [name, bit] of Object.entries(calls.mountAttributes)) {
    if (options[name as keyof typeof calls.mountAttributes]) bits |= bit;
  }
  return bits;
}

/**
 * Makes a detached mount of an open object, which nobody sees until it is attached. Read-only and
 * the other attributes are set here, so the target is never writable in between.
 */
export function detachedBind(source: SafePath, options: BindMountOptions = {}): OwnedFd {
  const { description } = source;
  const all = options.recursive ?? false;
  const tree = new OwnedFd(calls.cloneTree(source.fd, all, description), `mount of ${description}`);
  try {
    const set = mountAttributeBits(options);
    const propagation = options.propagation ? calls.mountPropagations[options.propagation] : 0;
    if (set || propagation) {
      calls.changeMount(tree.fd, { set, propagation, recursive: all }, description);
    }
    return tree;
  } catch (error) {
    tree.close();
    throw error;
  }
}

/**
 * Mounts the opened source over the opened target. Neither is looked up again, neither can be a
 * symlink, and a directory can only be mounted on a directory. Both must be in the caller's mount
 * namespace; for another namespace use `runIn` with the operation `bindMount`.
 */
export function bindMount(
  source: SafePath,
  target: SafePath,
  options: BindMountOptions = {},
): void {
  if ((source.type === "directory") !== (target.type === "directory")) {
    const message = `${source.description} is a ${source.type} and ${target.description} is a ${target.type}; mount a directory on a directory and a file on a file`;
    throw new HostError("HOST_ARGUMENT_INVALID", message, { path: target.description });
  }
  using tree = detachedBind(source, options);
  calls.attachTree(tree.fd, target.fd, target.description);
}

/** Options of {@link mountTmpfs}. */
export interface TmpfsOptions extends MountOptions {
  /** Maximum size in bytes. Default 1 MiB: a tmpfs without a limit takes half of the memory. */
  readonly maxBytes?: number;
  /** Permission bits of its root. Default 0755. */
  readonly mode?: number;
}

/** Mounts an empty tmpfs over an opened directory. */
export function mountTmpfs(target: SafePath, options: TmpfsOptions = {}): void {
  target.expect("directory");
  using instance = new OwnedFd(calls.openFileSystem("tmpfs"), "new tmpfs");
  calls.configureFileSystem(instance.fd, "size", String(options.maxBytes ?? 1024 * 1024));
  calls.configureFileSystem(instance.fd, "mode", (options.mode ?? 0o755).toString(8));
  const bits = mountAttributeBits(options);
  using tree = new OwnedFd(calls.createFileSystem(instance.fd, bits, "tmpfs"), "new tmpfs");
  if (options.propagation) {
    const propagation = calls.mountPropagations[options.propagation];
    calls.changeMount(tree.fd, { propagation }, target.description);
  }
  calls.attachTree(tree.fd, target.fd, target.description);
}

/** Sets or clears attributes and propagation of the mount at an opened object. */
export function remount(
  target: SafePath,
  options: MountOptions & { readonly recursive?: boolean },
): void {
  let clear = 0;
  for (const [name, bit] of Object.entries(calls.mountAttributes)) {
    if (options[name as keyof typeof calls.mountAttributes] === false) clear |= bit;
  }
  const propagation = options.propagation ? calls.mountPropagations[options.propagation] : 0;
  const change = { set: mountAttributeBits(options), clear, propagation };
  calls.changeMount(
    target.fd,
    { ...change, recursive: options.recursive ?? false },
    target.description,
  );
}

/**
 * Removes the topmost mount at an opened object. The object must have been opened after the mount
 * was made. Returns false and does nothing if no mount begins there.
 */
export function unmount(target: SafePath): boolean {
  if (!target.isMountRoot()) return false;
  calls.detachMount(target.procPath, target.description);
  return true;
}
