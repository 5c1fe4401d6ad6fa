import { cString, done, foreign } from "../ffi/foreign.ts";

// Needed: joins a namespace; Node has no binding, and a child process per visit costs milliseconds.
// Safe: integers only. It moves only the calling thread, which is the helper.
const nativeSetns = foreign("int", "setns", ["int", "int"]);

export function setns(fd: number, flag: number, touched: string): void {
  done(nativeSetns(fd, flag), "setns", touched);
}

// Needed: gives the helper thread a root and current directory of its own, and makes new
// namespaces.
// Safe: an integer; affects the calling thread only, which is the helper.
const nativeUnshare = foreign("int", "unshare", ["int"]);

/** The bit that stops sharing root, current directory and umask with the other threads. */
export const ownFileSystemState = 0x200;

export function unshare(flags: number): void {
  done(nativeUnshare(flags), "unshare", "the helper thread");
}

// Needed: returning from a mount namespace leaves the thread at that namespace's root, which
// differs from ours if this process was started in a chroot.
// Safe: a descriptor of a directory; the thread's current directory is not shared.
const nativeFchdir = foreign("int", "fchdir", ["int"]);

// Needed: see fchdir.
// Safe: a constant path in our own buffer; the thread's root is not shared.
const nativeChroot = foreign("int", "chroot", ["buffer"]);

/** Makes an open directory the current directory of the calling thread. */
export function enterDirectory(fd: number): void {
  done(nativeFchdir(fd), "fchdir", "a directory of the helper thread");
}

/** Makes an open directory the root and current directory of the calling thread. */
export function returnToRoot(fd: number): void {
  done(nativeFchdir(fd), "fchdir", "the helper thread's root");
  done(nativeChroot(cString(".", "path")), "chroot", "the helper thread's root");
}
