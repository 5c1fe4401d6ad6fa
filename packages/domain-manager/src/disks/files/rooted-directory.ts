import { constants } from "node:fs";
import { type FileHandle, open, opendir, readlink } from "node:fs/promises";
import { DiskError } from "../disk-error.ts";

/**
 * Missing in Node's table. A handle that refers to a file without opening it: a FIFO does not
 * block, a device is not touched.
 */
const O_PATH = 0o10000000;
/** As many links as the kernel follows. */
const mostLinks = 40;
const deepest = 64;

/** A file or directory that was found; close it. */
export interface Found {
  readonly kind: "file" | "directory" | "other";
  readonly size: number;
  readonly mode: number;
  /** Parts of its path below the root, after links. */
  readonly parts: readonly string[];
  readonly handle: FileHandle;
}

/**
 * A directory with possibly hostile content: a Pod's root, a container's image, a mounted volume.
 *
 * Every component of a path is opened separately, from the handle of its parent, and never through
 * a link. A link is read and resolved *inside* the root, as `openat2` with `RESOLVE_IN_ROOT` does.
 * So no link leads out, not even one that is swapped in at the wrong moment.
 */
export class RootedDirectory {
  readonly path: string;
  readonly #root: FileHandle;

  private constructor(path: string, root: FileHandle) {
    this.path = path;
    this.#root = root;
  }

  /** Opens a directory by a path that is trusted. */
  static async open(path: string): Promise<RootedDirectory> {
    try {
      return new RootedDirectory(path, await open(path, O_PATH | constants.O_DIRECTORY));
    } catch (cause) {
      throw DiskError.from("open", path, cause);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#root.close();
  }

  /**
   * Finds what a path leads to; undefined if nothing is there. The caller closes the handle.
   *
   * @throws DiskError if a part is not a directory, or over 40 links are on the way.
   */
  async find(path: string): Promise<Found | undefined> {
    const walk = new Walk(this.#root);
    try {
      return await walk.to(path);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw DiskError.from("find", `${this.path}/${path}`, cause);
    } finally {
      await walk.close();
    }
  }

  /**
   * Like {@link find}, but refuses everything except a regular file, and fails if nothing is there.
   */
  async findFile(path: string): Promise<Found> {
    const found = await this.find(path);
    const place = `${this.path}/${path}`.replace(/\/+/g, "/");
    if (!found) {
      throw new DiskError("DISK_SOURCE_MISSING", `${place}: no such file`, { path: place });
    }
    if (found.kind === "file") return found;
    await found.handle.close();
    const message = `${place}: ${found.kind === "directory" ? "a directory" : "a device, socket or pipe"}, not a regular file`;
    throw new DiskError("DISK_SOURCE_REFUSED", message, { path: place });
  }

  /**
   * Reads a regular file of at most `limit` bytes.
   *
   * @throws DiskError if it is larger, not a regular file, or missing.
   */
  async read(path: string, limit: number): Promise<Uint8Array> {
    const found = await this.findFile(path);
    try {
      return await readBounded(found, limit, `${this.path}/${path}`);
    } finally {
      await found.handle.close();
    }
  }

  /**
   * Names in a directory, sorted by their bytes; undefined if it is not there.
   *
   * @throws DiskError if it holds more than `limit`.
   */
  async list(path: string, limit: number): Promise<readonly string[] | undefined> {
    const found = await this.find(path);
    if (!found) return undefined;
    const place = `${this.path}/${path}`;
    try {
      return await listBounded(found.handle, limit, place);
    } catch (cause) {
      throw DiskError.from("list", place, cause);
    } finally {
      await found.handle.close();
    }
  }
}

/**
 * The path by which a handle's file can be opened again: the kernel resolves it to the same file.
 */
export function handlePath({ fd }: FileHandle, name?: string): string {
  return name === undefined ? `/proc/self/fd/${fd}` : `/proc/self/fd/${fd}/${name}`;
}

/** A walk along a path: the handles of the directories passed so far. */
class Walk {
  readonly #root: FileHandle;
  readonly #passed: { readonly name: string; readonly handle: FileHandle }[] = [];
  #links = 0;

  constructor(root: FileHandle) {
    this.#root = root;
  }

  async to(path: string): Promise<Found> {
    const ahead = path.split("/");
    for (let name = ahead.shift(); name !== undefined; name = ahead.shift()) {
      if (name === "" || name === ".") continue;
      if (name === "..") await this.#back();
      else ahead.unshift(...(await this.#step(name)));
    }
    return await this.#arrive();
  }

  async close(): Promise<void> {
    for (const { handle } of this.#passed) await handle.close();
  }

  get #here(): FileHandle {
    return this.#passed.at(-1)?.handle ?? this.#root;
  }

  /** One directory up; the root's parent is the root. */
  async #back(): Promise<void> {
    await this.#passed.pop()?.handle.close();
  }

  /**
   * Goes to a name in the current directory; if it is a link, returns the components of the link.
   */
  async #step(name: string): Promise<readonly string[]> {
    if (this.#passed.length >= deepest)
      throw refused(name, `it is more than ${deepest} directories deep`);
    const handle = await open(handlePath(this.#here, name), O_PATH | constants.O_NOFOLLOW);
    const isLink = await handle.stat().then(
      (stat) => stat.isSymbolicLink(),
      async (cause: unknown) => {
        await handle.close();
        throw cause;
      },
    );
    if (!isLink) {
      this.#passed.push({ name, handle });
      return [];
    }
    await handle.close();
    if (++this.#links > mostLinks)
      throw refused(name, `it is behind a chain of more than ${mostLinks} links`);
    const target = await readlink(handlePath(this.#here, name));
    if (target.startsWith("/")) while (this.#passed.length > 0) await this.#back();
    return target.split("/");
  }

  /** Hands the last handle over to the caller. */
  async #arrive(): Promise<Found> {
    const last = this.#passed.pop();
    const parts = [...this.#passed.map(({ name }) => name), ...(last ? [last.name] : [])];
    const handle = last?.handle ?? (await open(handlePath(this.#root), O_PATH));
    const stat = await handle.stat();
    const kind = stat.isFile() ? "file" : stat.isDirectory() ? "directory" : "other";
    return { kind, size: stat.size, mode: stat.mode & 0o777, parts, handle };
  }
}

function refused(name: string, what: string): DiskError {
  return new DiskError("DISK_SOURCE_REFUSED", `${JSON.stringify(name)}: ${what}`, { path: name });
}

/** Reads at most `limit` bytes of an opened file, whatever size it claims. */
export async function readBounded(found: Found, limit: number, place: string): Promise<Uint8Array> {
  const tooLarge = () =>
    new DiskError("DISK_TOO_LARGE", `${place}: over the limit of ${limit} bytes`, { path: place });
  if (found.size > limit) throw tooLarge();
  try {
    const file = await open(handlePath(found.handle), constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      // One byte more than allowed, to notice a file that grows meanwhile.
      const buffer = Buffer.alloc(Math.min(found.size, limit) + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await file.read(buffer, length, buffer.length - length);
        length += bytesRead;
        if (length === buffer.length) throw tooLarge();
        if (bytesRead === 0) return buffer.subarray(0, length);
      }
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw DiskError.from("read", place, cause);
  }
}

async function listBounded(handle: FileHandle, limit: number, place: string): Promise<string[]> {
  const names: string[] = [];
  const directory = await opendir(handlePath(handle));
  for await (const { name } of directory) {
    if (names.length === limit) {
      const message = `${place}: over the limit of ${limit} entries`;
      throw new DiskError("DISK_TOO_LARGE", message, { path: place });
    }
    names.push(name);
  }
  return names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}
