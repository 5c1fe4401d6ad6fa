/** The header of one file in a tar archive. */
export interface TarHeader {
  /** Relative to the root that it is unpacked to, without a slash at its beginning. */
  readonly path: string;
  readonly kind: "file" | "directory" | "symlink";
  readonly mode: number;
  readonly uid?: number;
  readonly gid?: number;
  /** Of a file's content. */
  readonly size?: number;
  /** What a symlink points to. */
  readonly target?: string;
}

const blockSize = 512;
const kinds = { file: "0", symlink: "2", directory: "5", extended: "x" };

/**
 * The header of one entry, in the format of POSIX: names that are too long for it are in a header of their
 * own before it. Times are those of the epoch, so that equal files give equal archives.
 */
export function tarHeader(entry: TarHeader): Buffer {
  const { path, target = "", kind } = entry;
  const name = kind === "directory" ? `${path}/` : path;
  const long = [
    ...(Buffer.byteLength(name) > 100 ? [extendedRecord("path", name)] : []),
    ...(Buffer.byteLength(target) > 100 ? [extendedRecord("linkpath", target)] : []),
  ].join("");
  const header = block({ ...entry, name, target, type: kinds[kind], size: entry.size ?? 0 });
  if (!long) return header;
  const data = Buffer.from(long);
  const size = data.length;
  const extension = block({
    ...{ name: "extended", target: "", type: kinds.extended, mode: 0o644, size },
  });
  return Buffer.concat([extension, data, tarPadding(size), header]);
}

/** What fills the last block of a file of that size. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((blockSize - (size % blockSize)) % blockSize);
}

/** Two empty blocks end an archive. */
export const tarEnd: Buffer = Buffer.alloc(2 * blockSize);

interface Block {
  readonly name: string;
  readonly target: string;
  readonly type: string;
  readonly mode: number;
  readonly size: number;
  readonly uid?: number;
  readonly gid?: number;
}

function block({ name, target, type, mode, size, uid = 0, gid = 0 }: Block): Buffer {
  const header = Buffer.alloc(blockSize);
  header.write(name, 0, 100);
  header.write(octal(mode, 7), 100);
  header.write(octal(uid, 7), 108);
  header.write(octal(gid, 7), 116);
  header.write(octal(size, 11), 124);
  header.write(octal(0, 11), 136);
  // The sum counts its own field as spaces.
  header.write(" ".repeat(8), 148);
  header.write(type, 156);
  header.write(target, 157, 100);
  header.write("ustar\u000000", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\u0000 `, 148, "latin1");
  return header;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

/** A record begins with its own length, which counts its own digits. */
function extendedRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  const length = [1, 2, 3, 4, 5]
    .map((digits) => bytes + digits)
    .find((total) => `${total}`.length + bytes === total);
  return `${length}${rest}`;
}
