import { dirname } from "node:path";
import type { FileCalls } from "../durable/file-calls.ts";

/** Thrown in place of the call before which the host crashed. */
export class Crash extends Error {}

interface Inode {
  readonly isDirectory: boolean;
  bytes: Buffer;
  /** What is certainly on disk. */
  synced: Buffer;
}

type Names = ReadonlyMap<string, Inode>;
interface NameChange {
  readonly directory: string;
  apply(names: Map<string, Inode>): void;
}

/** Less than any test's content, so that each write is a short one. */
const mostPerWrite = 5;

/**
 * A file system that guarantees no more than POSIX does. Names are on disk once their directory was
 * synced, and bytes once their file was; until then each may be there or not, in any combination. A
 * write takes a few bytes at a time. Crashes before the call with the given number.
 */
export class CrashingFiles implements FileCalls {
  calls = 0;
  readonly #crashAt: number;
  readonly #names: Map<string, Inode>;
  readonly #onDisk: Map<string, Inode>;
  #pending: NameChange[] = [];
  readonly #open = new Map<number, { readonly path: string; readonly inode: Inode }>();
  #nextFd = 3;

  constructor({ crashAt = Number.POSITIVE_INFINITY, names = new Map() as Names } = {}) {
    this.#crashAt = crashAt;
    this.#names = new Map([["/", directory()], ...names]);
    this.#onDisk = new Map(this.#names);
  }

  /** Every state that the disk may be in after a crash now. */
  *afterCrash(): Generator<CrashingFiles> {
    for (let kept = 0; kept < 2 ** this.#pending.length; kept++) {
      const names = new Map(this.#onDisk);
      for (const [bit, change] of this.#pending.entries())
        if (kept & (2 ** bit)) change.apply(names);
      for (const bytesOf of [whole, synced, half]) {
        const found = new Map<string, Inode>();
        for (const [path, inode] of names) {
          if (isReachable(path, names)) found.set(path, settled(inode, bytesOf(inode)));
        }
        yield new CrashingFiles({ names: found });
      }
    }
  }

  /** The same disk, set to crash before that call. */
  crashingAt(crashAt: number): CrashingFiles {
    const names = [...this.#names].map(
      ([path, inode]) => [path, settled(inode, inode.bytes)] as const,
    );
    return new CrashingFiles({ crashAt, names: new Map(names) });
  }

  /** All names of files. */
  list(): string[] {
    return [...this.#names].flatMap(([path, inode]) => (inode.isDirectory ? [] : path));
  }

  mkdir(path: string): string | undefined {
    this.#call();
    const missing: string[] = [];
    for (let at = path; !this.#names.has(at); at = dirname(at)) missing.unshift(at);
    for (const at of missing) this.#change(at, directory());
    return missing[0];
  }

  open(path: string, flags: "wx" | "w" | "r"): number {
    this.#call();
    const found = this.#names.get(path);
    if (found && flags === "wx") throw failure("EEXIST", path);
    if (!found && (flags === "r" || !this.#names.has(dirname(path)))) throw failure("ENOENT", path);
    const inode = found ?? { isDirectory: false, bytes: Buffer.alloc(0), synced: Buffer.alloc(0) };
    if (flags === "w") inode.bytes = Buffer.alloc(0);
    if (!found) this.#change(path, inode);
    this.#open.set(this.#nextFd, { path, inode });
    return this.#nextFd++;
  }

  write(fd: number, bytes: Uint8Array): number {
    this.#call();
    const { inode } = this.#at(fd);
    const taken = bytes.subarray(0, mostPerWrite);
    inode.bytes = Buffer.concat([inode.bytes, taken]);
    return taken.length;
  }

  sync(fd: number): void {
    this.#call();
    const { path, inode } = this.#at(fd);
    inode.synced = inode.bytes;
    if (!inode.isDirectory) return;
    for (const change of this.#pending) if (change.directory === path) change.apply(this.#onDisk);
    this.#pending = this.#pending.filter((change) => change.directory !== path);
  }

  close(fd: number): void {
    this.#call();
    this.#at(fd);
    this.#open.delete(fd);
  }

  rename(from: string, to: string): void {
    this.#call();
    const inode = this.#need(from);
    // Within one directory, as here, it is one change: never both names and never neither.
    this.#apply({
      directory: dirname(to),
      apply(names) {
        names.delete(from);
        names.set(to, inode);
      },
    });
  }

  link(from: string, to: string): void {
    this.#call();
    if (this.#names.has(to)) throw failure("EEXIST", to);
    this.#change(to, this.#need(from));
  }

  unlink(path: string): void {
    this.#call();
    this.#need(path);
    this.#apply({ directory: dirname(path), apply: (names) => names.delete(path) });
  }

  read(path: string): string {
    this.#call();
    return this.#need(path).bytes.toString();
  }

  #call(): void {
    if (this.calls++ >= this.#crashAt) throw new Crash(`before call ${this.#crashAt}`);
  }

  #need(path: string): Inode {
    const inode = this.#names.get(path);
    if (!inode) throw failure("ENOENT", path);
    return inode;
  }

  #at(fd: number): { readonly path: string; readonly inode: Inode } {
    const open = this.#open.get(fd);
    if (!open) throw failure("EBADF", String(fd));
    return open;
  }

  #change(path: string, inode: Inode): void {
    this.#apply({ directory: dirname(path), apply: (names) => names.set(path, inode) });
  }

  #apply(change: NameChange): void {
    change.apply(this.#names);
    this.#pending.push(change);
  }
}

const whole = ({ bytes }: Inode): Buffer => bytes;
const synced = (inode: Inode): Buffer => inode.synced;
const half = (inode: Inode): Buffer =>
  inode.bytes.subarray(0, Math.ceil((inode.bytes.length + inode.synced.length) / 2));

function settled({ isDirectory }: Inode, bytes: Buffer): Inode {
  return { isDirectory, bytes, synced: bytes };
}

function directory(): Inode {
  return { isDirectory: true, bytes: Buffer.alloc(0), synced: Buffer.alloc(0) };
}

function isReachable(path: string, names: Names): boolean {
  for (let at = path; at !== "/"; at = dirname(at)) if (!names.has(dirname(at))) return false;
  return true;
}

function failure(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code, syscall: "fake" });
}
