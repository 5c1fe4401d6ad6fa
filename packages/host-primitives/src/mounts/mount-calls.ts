import { cString, done, foreign } from "../ffi/foreign.ts";
import { syscallNumber } from "../ffi/syscall-numbers.ts";

const emptyPath = 0x1000;
const recursive = 0x8000;
const closeOnExec = 0o2000000;

/** Attributes of a mount, for `mount_setattr`. */
export const mountAttributes = { readOnly: 0x1, noSuid: 0x2, noDev: 0x4, noExec: 0x8 } as const;

/** How mounts propagate between namespaces, for `mount_setattr`. */
export const mountPropagations = {
  unbindable: 0x20000,
  private: 0x40000,
  slave: 0x80000,
  shared: 0x100000,
} as const;

// Needed: clones a mount from a descriptor, so that no path is looked up a second time.
// Safe: integers and a constant empty path; returns a descriptor that is close-on-exec.
const nativeOpenTree = foreign("long", "syscall", ["long", "int", "buffer", "uint"]);

/** A detached copy of the mount that the descriptor is on, with the descriptor's object as its root. */
export function cloneTree(fd: number, all: boolean, touched: string): number {
  const flags = 1 | closeOnExec | emptyPath | (all ? recursive : 0);
  const path = cString("", "path");
  return done(nativeOpenTree(syscallNumber("openTree"), fd, path, flags), "open_tree", touched);
}

// Needed: puts a detached mount on an open target; mount(2) would look the target up by its path.
// Safe: two descriptors and two constant empty paths.
const nativeMoveMount = foreign("long", "syscall", [
  "long",
  "int",
  "buffer",
  "int",
  "buffer",
  "uint",
]);

export function attachTree(tree: number, target: number, touched: string): void {
  const [number, path] = [syscallNumber("moveMount"), cString("", "path")];
  // 0x4: the source's path is empty, 0x40: the target's path is empty.
  done(nativeMoveMount(number, tree, path, target, path, 0x44), "move_mount", touched);
}

// Needed: makes a mount read-only before anybody can see it, and sets its propagation.
// Safe: the attribute buffer has the 32 bytes that its size argument says.
const nativeMountSetattr = foreign("long", "syscall", [
  "long",
  "int",
  "buffer",
  "uint",
  "buffer",
  "size_t",
]);

export interface MountChange {
  readonly set?: number;
  readonly clear?: number;
  readonly propagation?: number;
  readonly recursive?: boolean;
}

export function changeMount(fd: number, change: MountChange, touched: string): void {
  const attributes = new BigUint64Array([
    BigInt(change.set ?? 0),
    BigInt(change.clear ?? 0),
    BigInt(change.propagation ?? 0),
    0n,
  ]);
  const flags = emptyPath | (change.recursive ? recursive : 0);
  const [number, path] = [syscallNumber("mountSetattr"), cString("", "path")];
  done(nativeMountSetattr(number, fd, path, flags, attributes, 32), "mount_setattr", touched);
}

// Needed: removes a mount; Node has no binding.
// Safe: a NUL-terminated buffer that we own; for what a Pod controls it is /proc/self/fd/<descriptor>,
// which means the opened object even if its name now means something else.
const nativeUmount2 = foreign("int", "umount2", ["buffer", "int"]);

const detach = 2;
const noFollow = 8;

/** Detaches the mount at an open object immediately; it goes away when nobody uses it any more. */
export function detachMount(procPath: string, touched: string): void {
  done(nativeUmount2(cString(procPath, "path"), detach), "umount2", touched);
}

/** Detaches the mount at a path of the host itself, without following a link at its end. */
export function detachByPath(path: string): void {
  done(nativeUmount2(cString(path, "path"), detach | noFollow), "umount2", path);
}

// Needed: a new file system instance without a path, so that it is attached by descriptors only.
// Safe: a constant name in our own buffer.
const nativeFsopen = foreign("long", "syscall", ["long", "buffer", "uint"]);

// Needed: sets the options of that instance.
// Safe: key and value are NUL-terminated buffers that we own, or null if the command has none.
const nativeFsconfig = foreign("long", "syscall", [
  "long",
  "int",
  "uint",
  "buffer",
  "buffer",
  "int",
]);

// Needed: makes a detached mount of that instance.
// Safe: integers only.
const nativeFsmount = foreign("long", "syscall", ["long", "int", "uint", "uint"]);

export function openFileSystem(type: string): number {
  return done(nativeFsopen(syscallNumber("fsopen"), cString(type, "type"), 1), "fsopen", type);
}

export function configureFileSystem(fd: number, key: string, value: string): void {
  const [name, text] = [cString(key, "key"), cString(value, "value")];
  done(nativeFsconfig(syscallNumber("fsconfig"), fd, 1, name, text, 0), "fsconfig", key);
}

/** Creates the configured instance and returns a detached mount of it. */
export function createFileSystem(fd: number, attributes: number, touched: string): number {
  done(nativeFsconfig(syscallNumber("fsconfig"), fd, 6, null, null, 0), "fsconfig", touched);
  return done(nativeFsmount(syscallNumber("fsmount"), fd, 1, attributes), "fsmount", touched);
}

// Needed: changes the root mount of a thread's own mount namespace.
// Safe: constant paths in our own buffers; only a thread with a namespace of its own calls it.
const nativePivotRoot = foreign("long", "syscall", ["long", "buffer", "buffer"]);

/** Swaps the root mount for the current directory, stacking the old root under it (pivot_root(".", ".")). */
export function pivotToCurrentDirectory(): void {
  const here = cString(".", "path");
  done(nativePivotRoot(syscallNumber("pivotRoot"), here, here), "pivot_root", "the new root");
}

// Needed: binds a namespace file to a name so that it outlives its processes, and makes the
// directory of such names a shared mount, as `ip netns` does.
// Safe: the paths are NUL-terminated buffers that we own; flags are constants.
const nativeMount = foreign("int", "mount", ["buffer", "buffer", "buffer", "uint64", "buffer"]);

const bind = 0x1000;
const withAllBelow = 0x4000;
const share = 0x100000;

/** A plain bind mount by path, for paths of the host itself. */
export function bindByPath(source: string, target: string, all = false): void {
  const [from, to] = [cString(source, "source"), cString(target, "target")];
  const flags = bind | (all ? withAllBelow : 0);
  done(nativeMount(from, to, null, flags, null), "mount", target);
}

/**
 * Lets mounts below a mount of the host itself propagate to its copies. `EINVAL` if there is no
 * mount.
 */
export function shareByPath(path: string): void {
  const flags = share | withAllBelow;
  done(nativeMount(null, cString(path, "path"), null, flags, null), "mount", path);
}
