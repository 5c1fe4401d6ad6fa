import { cString, done, foreign, integer } from "../ffi/foreign.ts";
import { syscallNumber } from "../ffi/syscall-numbers.ts";
import { HostError, hasErrno } from "../host-error.ts";

/** Flags that the kernel defines and Node's `fs.constants` lacks; the same on every architecture. */
export const fileFlags = {
  path: 0o10000000,
  closeOnExec: 0o2000000,
  emptyPath: 0x1000,
  removeDirectory: 0x200,
} as const;

/** How `openat2` resolves a path. */
export const resolveFlags = { noMagicLinks: 2, noSymlinks: 4, beneath: 8, inRoot: 16 } as const;

/** The current directory as a descriptor, for absolute paths of the host itself. */
export const currentDirectory = -100;

const maxId = 0xffff_fffe;

// Needed: only openat2 confines a whole resolution to a root; Node has no binding for it.
// Safe: path and how are our own buffers that live through the call, and 24 is the size of how.
const nativeOpenat2 = foreign("long", "syscall", ["long", "int", "buffer", "buffer", "size_t"]);

/** How often a resolution is retried if a rename raced with it. */
const maxRaces = 128;

export interface OpenAt2 {
  readonly flags: number;
  readonly mode?: number;
  readonly resolve: number;
}

/**
 * Opens `path` below `directory`, always close-on-exec. Retries if a rename made the kernel unsure.
 */
export function openat2(directory: number, path: string, how: OpenAt2, touched: string): number {
  const text = cString(path, "path");
  const words = new BigUint64Array([
    BigInt(how.flags | fileFlags.closeOnExec),
    BigInt(how.mode ?? 0),
    BigInt(how.resolve),
  ]);
  for (let races = 0; ; races++) {
    try {
      const number = syscallNumber("openat2");
      return done(nativeOpenat2(number, directory, text, words, 24), "openat2", touched);
    } catch (error) {
      if (!hasErrno(error, "EAGAIN", "EINTR")) throw error;
      if (races >= maxRaces) throw changing(touched, error);
    }
  }
}

function changing(touched: string, cause: unknown): HostError {
  const message = `${touched} kept changing while it was resolved; stop whoever renames its parents`;
  return new HostError("HOST_PATH_UNSAFE", message, { path: touched, errno: "EAGAIN", cause });
}

// Needed: Node's mkdir takes a whole path, which could be redirected between check and use.
// Safe: name is one checked component in a NUL-terminated buffer that we own.
const nativeMkdirat = foreign("int", "mkdirat", ["int", "buffer", "uint"]);

export function mkdirat(directory: number, name: string, mode: number, touched: string): void {
  const text = cString(name, "name");
  integer(mode, 0, 0o7777, "mode");
  done(nativeMkdirat(directory, text, mode), "mkdirat", touched);
}

// Needed: Node cannot create device nodes at all.
// Safe: see mkdirat; the device number is a plain integer that the kernel checks.
const nativeMknodat = foreign("int", "mknodat", ["int", "buffer", "uint", "uint64"]);

export function mknodat(
  directory: number,
  name: string,
  mode: number,
  device: bigint,
  touched: string,
): void {
  done(nativeMknodat(directory, cString(name, "name"), mode, device), "mknodat", touched);
}

// Needed: changes the owner of exactly the opened object, even if its path now means something
// else.
// Safe: an empty path with AT_EMPTY_PATH acts on the descriptor itself; IDs are checked before.
const nativeFchownat = foreign("int", "fchownat", ["int", "buffer", "uint", "uint", "int"]);

export function chownDescriptor(fd: number, uid: number, gid: number, touched: string): void {
  integer(uid, 0, maxId, "uid");
  integer(gid, 0, maxId, "gid");
  const empty = cString("", "path");
  done(nativeFchownat(fd, empty, uid, gid, fileFlags.emptyPath), "fchownat", touched);
}

// Needed: Node's unlink and rmdir take whole paths.
// Safe: name is one checked component; the call never follows a link in it.
const nativeUnlinkat = foreign("int", "unlinkat", ["int", "buffer", "int"]);

export function unlinkat(directory: number, name: string, flags: number, touched: string): void {
  done(nativeUnlinkat(directory, cString(name, "name"), flags), "unlinkat", touched);
}

// Needed: Node's rename takes whole paths and cannot refuse to replace.
// Safe: both names are single checked components; a link as either is renamed or replaced, not
// followed.
const nativeRenameat2 = foreign("int", "renameat2", ["int", "buffer", "int", "buffer", "uint"]);

export const renameFlags = { replace: 0, noReplace: 1, exchange: 2 } as const;

export function renameat2(
  from: { readonly directory: number; readonly name: string },
  to: { readonly directory: number; readonly name: string },
  flags: number,
  touched: string,
): void {
  const [old, renamed] = [cString(from.name, "from"), cString(to.name, "to")];
  done(nativeRenameat2(from.directory, old, to.directory, renamed, flags), "renameat2", touched);
}

// Needed: checks whether a descriptor is the root of a mount; Node's stat lacks the attributes.
// Safe: the buffer has the 256 bytes of struct statx; an empty path acts on the descriptor.
const nativeStatx = foreign("int", "statx", ["int", "buffer", "int", "uint", "buffer"]);

const mountRootAttribute = 0x2000n;
const attributesOffset = 8;
const attributesMaskOffset = 56;

/** Whether the opened object is the root of a mount. */
export function isMountRoot(fd: number, touched: string): boolean {
  const status = Buffer.alloc(256);
  done(nativeStatx(fd, cString("", "path"), fileFlags.emptyPath, 0, status), "statx", touched);
  if ((status.readBigUInt64LE(attributesMaskOffset) & mountRootAttribute) === 0n) {
    const message = "this kernel does not report mount roots; Linux 5.8 or later is needed";
    throw new HostError("HOST_UNSUPPORTED", message, { path: touched, syscall: "statx" });
  }
  return (status.readBigUInt64LE(attributesOffset) & mountRootAttribute) !== 0n;
}

// Needed: Node has no extended attributes; SELinux keeps its labels there.
// Safe: called with a size, the kernel never writes more than that into the buffer.
const nativeGetxattr = foreign("long", "getxattr", ["buffer", "buffer", "buffer", "size_t"]);

/** Value of an extended attribute, or undefined if there is none. At most 4096 bytes. */
export function getxattr(path: string, name: string, touched: string): Buffer | undefined {
  const [file, attribute, value] = [
    cString(path, "path"),
    cString(name, "name"),
    Buffer.alloc(4096),
  ];
  try {
    const size = done(nativeGetxattr(file, attribute, value, value.length), "getxattr", touched);
    return value.subarray(0, size);
  } catch (error) {
    if (hasErrno(error, "ENODATA", "EOPNOTSUPP")) return undefined;
    throw error;
  }
}

// Needed: see getxattr.
// Safe: the value's size is that of the buffer.
const nativeSetxattr = foreign("int", "setxattr", ["buffer", "buffer", "buffer", "size_t", "int"]);

export function setxattr(path: string, name: string, value: Buffer, touched: string): void {
  const [file, attribute] = [cString(path, "path"), cString(name, "name")];
  done(nativeSetxattr(file, attribute, value, value.length, 0), "setxattr", touched);
}

// Needed: a second owner of a descriptor, for the helper thread; Node has no dup.
// Safe: integers only; F_DUPFD_CLOEXEC gives a close-on-exec descriptor.
const nativeFcntl = foreign("int", "fcntl", ["int", "int", "long"]);

/** Another descriptor of the same open object. */
export function duplicate(fd: number, touched: string): number {
  const duplicateCloseOnExec = 1030;
  return done(nativeFcntl(fd, duplicateCloseOnExec, 0), "fcntl(F_DUPFD_CLOEXEC)", touched);
}
