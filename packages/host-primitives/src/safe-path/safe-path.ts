import { chmodSync, closeSync, constants, opendirSync, openSync, readSync } from "node:fs";
import { integer } from "../ffi/foreign.ts";
import { HostError } from "../host-error.ts";
import { OwnedFd } from "../owned-fd.ts";
import { entryName } from "./entry-name.ts";
import * as calls from "./file-calls.ts";
import { type FileStatus, type FileType, fileStatus } from "./file-status.ts";

/** Limits for reading a file that someone else writes. */
export interface ReadOptions {
  /** The most bytes to accept; more is `HOST_LIMIT_EXCEEDED`. Default 1 MiB. */
  readonly maxBytes?: number;
}

/** Limits of a directory listing. */
export interface ListOptions {
  /** The most entries to accept; more is `HOST_LIMIT_EXCEEDED`. Default 10,000. */
  readonly maxEntries?: number;
}

const openOnePath = calls.resolveFlags.beneath | calls.resolveFlags.noSymlinks;

/**
 * An object, held open, in a file system that someone hostile may be changing.
 *
 * It was resolved once, inside its root. From then on it is used by its descriptor, so a rename, a
 * swapped link or a mount over its path changes nothing. It is never a symlink. The descriptor was
 * opened only as a path: opening it runs no driver and blocks on no FIFO.
 */
export class SafePath implements Disposable {
  readonly type: FileType;
  /** How it was reached, for messages only. */
  readonly description: string;
  readonly #handle: OwnedFd;

  /** Takes over `handle`; closes it and throws if it is a symlink or not of the wanted type. */
  constructor(handle: OwnedFd, wanted?: FileType | readonly FileType[]) {
    this.#handle = handle;
    this.description = handle.what;
    try {
      this.type = fileStatus(handle.fd, handle.what).type;
      this.#refuseLink();
      if (wanted !== undefined) this.expect(wanted);
    } catch (error) {
      handle.close();
      throw error;
    }
  }

  /** The descriptor, opened as a path; belongs to this object. */
  get fd(): number {
    return this.#handle.fd;
  }

  /** A path that means exactly this object, for calls that take no descriptor. Never crosses a symlink. */
  get procPath(): string {
    return this.#handle.procPath;
  }

  close(): void {
    this.#handle.close();
  }

  [Symbol.dispose](): void {
    this.#handle.close();
  }

  /** Throws `HOST_PATH_UNSAFE` if the object has none of these types. Returns itself. */
  expect(wanted: FileType | readonly FileType[]): this {
    const types = typeof wanted === "string" ? [wanted] : wanted;
    if (types.includes(this.type)) return this;
    const message = `${this.description} is a ${this.type}, not a ${types.join(" or ")}; refused`;
    throw new HostError("HOST_PATH_UNSAFE", message, { path: this.description });
  }

  stat(): FileStatus {
    return fileStatus(this.fd, this.description);
  }

  /** Whether a mount begins here. */
  isMountRoot(): boolean {
    return calls.isMountRoot(this.fd, this.description);
  }

  /** Changes the owner of exactly this object. */
  chown(uid: number, gid: number): void {
    calls.chownDescriptor(this.fd, uid, gid, this.description);
  }

  /** Changes the permission bits of exactly this object. */
  chmod(mode: number): void {
    integer(mode, 0, 0o7777, "mode");
    try {
      chmodSync(this.procPath, mode);
    } catch (error) {
      throw HostError.from(error, this.description);
    }
  }

  /** An extended attribute, or undefined if there is none. */
  getAttribute(name: string): Buffer | undefined {
    return calls.getxattr(this.procPath, name, this.description);
  }

  setAttribute(name: string, value: Buffer): void {
    calls.setxattr(this.procPath, name, value, this.description);
  }

  /**
   * Opens exactly this object for reading or writing. Only regular files and, on request, block
   * devices: a FIFO would block, and a character device may do anything on open.
   */
  open(flags: number, types: readonly FileType[] = ["file"]): OwnedFd {
    this.expect(types);
    const safe = (flags & ~constants.O_CREAT) | constants.O_NONBLOCK | constants.O_NOCTTY;
    try {
      return new OwnedFd(
        openSync(this.procPath, safe | calls.fileFlags.closeOnExec),
        this.description,
      );
    } catch (error) {
      throw HostError.from(error, this.description);
    }
  }

  /** The content of a regular file of at most `maxBytes`, however large it claims to be. */
  read({ maxBytes = 1024 * 1024 }: ReadOptions = {}): Buffer {
    using file = this.open(constants.O_RDONLY);
    return readBounded(file.fd, maxBytes, this.description);
  }

  /** Names of a directory's entries in no particular order, without types: open what you need. */
  list({ maxEntries = 10_000 }: ListOptions = {}): string[] {
    this.expect("directory");
    const names: string[] = [];
    try {
      const directory = opendirSync(this.procPath, { bufferSize: 128 });
      try {
        for (let entry = directory.readSync(); entry; entry = directory.readSync()) {
          if (names.length >= maxEntries) throw tooMuch(this.description, `${maxEntries} entries`);
          names.push(entry.name);
        }
      } finally {
        directory.closeSync();
      }
    } catch (error) {
      throw HostError.from(error, this.description);
    }
    return names;
  }

  /**
   * Opens the entry of this directory with that name. Throws if it is a symlink or of another type.
   */
  child(name: string, wanted?: FileType | readonly FileType[]): SafePath {
    this.expect("directory");
    const description = `${this.description}/${entryName(name)}`;
    const flags = calls.fileFlags.path | constants.O_NOFOLLOW;
    // For a link the kernel returns ELOOP, unless O_NOFOLLOW gave a handle to it; either way no
    // link gets through.
    const how = { flags, resolve: calls.resolveFlags.beneath | calls.resolveFlags.noMagicLinks };
    const fd = calls.openat2(this.fd, name, how, description);
    return new SafePath(new OwnedFd(fd, description), wanted);
  }

  /** Opens an entry of this directory by `openat2` with the given flags; never through a link. */
  openEntry(name: string, flags: number, mode: number): OwnedFd {
    this.expect("directory");
    const description = `${this.description}/${entryName(name)}`;
    const how = { flags: flags | constants.O_NOFOLLOW, mode, resolve: openOnePath };
    return new OwnedFd(calls.openat2(this.fd, name, how, description), description);
  }

  #refuseLink(): void {
    if (this.type !== "symlink") return;
    const message = `${this.description} is a symlink; the last component must not be one`;
    throw new HostError("HOST_PATH_UNSAFE", message, { path: this.description });
  }
}

function tooMuch(description: string, limit: string): HostError {
  const message = `${description} has more than ${limit}; refused. Raise the limit if that is expected`;
  return new HostError("HOST_LIMIT_EXCEEDED", message, { path: description });
}

/** Reads a descriptor to its end, but at most one byte more than `maxBytes`. */
export function readBounded(fd: number, maxBytes: number, description: string): Buffer {
  integer(maxBytes, 0, 0x4000_0000, "maxBytes");
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(Math.min(65_536, maxBytes + 1 - size));
      const count = readSync(fd, chunk, 0, chunk.length, null);
      if (count === 0) return Buffer.concat(chunks, size);
      size += count;
      if (size > maxBytes) throw tooMuch(description, `${maxBytes} bytes`);
      chunks.push(chunk.subarray(0, count));
    }
  } catch (error) {
    throw HostError.from(error, description);
  }
}

/** Closes a raw descriptor in an error path; a second error would hide the first. */
export function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // The descriptor is gone either way.
  }
}
