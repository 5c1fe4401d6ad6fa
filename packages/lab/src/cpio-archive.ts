/** One entry of an initramfs. */
export interface CpioEntry {
  readonly path: string;
  readonly kind: "file" | "directory" | "symlink";
  /** Permission bits; 0755 by default. */
  readonly mode?: number;
  /** A file's content, or what a symlink points to. */
  readonly data?: Buffer | string;
}

const kinds = { file: 0o100000, directory: 0o040000, symlink: 0o120000 };

/** Packs entries into the "newc" format that Linux unpacks as its initramfs; all belong to root. */
export function cpioArchive(entries: readonly CpioEntry[]): Buffer {
  const parts = entries.map((entry, index) =>
    record(
      entry.path,
      kinds[entry.kind] | (entry.mode ?? 0o755),
      index + 1,
      Buffer.from(entry.data ?? ""),
    ),
  );
  return Buffer.concat([...parts, record("TRAILER!!!", 0, 0, Buffer.alloc(0))]);
}

function record(path: string, mode: number, inode: number, data: Buffer): Buffer {
  const name = Buffer.from(`${path}\0`);
  // magic, inode, mode, uid, gid, links, time, size, four device numbers, length of name, checksum
  const fields = [inode, mode, 0, 0, 1, 0, data.length, 0, 0, 0, 0, name.length, 0];
  const header = `070701${fields.map((field) => field.toString(16).padStart(8, "0")).join("")}`;
  return Buffer.concat([padded(Buffer.concat([Buffer.from(header), name])), padded(data)]);
}

function padded(data: Buffer): Buffer {
  return Buffer.concat([data, Buffer.alloc(-data.length & 3)]);
}
