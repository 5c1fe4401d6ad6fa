/** A file or directory as a reader of the image sees it. */
export interface ReadEntry {
  readonly content?: string;
  readonly mode?: number;
}

const sector = 2048;

/**
 * Reads one of the trees of an ISO image, by path. Written from the standards and not from the
 * writer: it does not know in which order the writer places things.
 */
export function readIso(
  image: Uint8Array,
  form: "rockRidge" | "joliet",
): { readonly label: string; readonly entries: Map<string, ReadEntry> } {
  const bytes = Buffer.from(image.buffer, image.byteOffset, image.byteLength);
  const descriptor = findDescriptor(bytes, form === "joliet" ? 2 : 1);
  const rawLabel = descriptor.subarray(40, 72);
  const label = form === "joliet" ? utf16(rawLabel) : rawLabel.toString("latin1");
  const entries = new Map<string, ReadEntry>();
  visit({ bytes, form, entries }, descriptor.subarray(156, 190), "");
  return { label: label.trimEnd(), entries };
}

interface Reader {
  readonly bytes: Buffer;
  readonly form: "rockRidge" | "joliet";
  readonly entries: Map<string, ReadEntry>;
}

function visit(reader: Reader, directory: Buffer, path: string): void {
  for (const child of recordsOf(extentOf(reader.bytes, directory))) {
    if (isSelfOrParent(idOf(child))) continue;
    const fields = reader.form === "rockRidge" ? systemUse(reader.bytes, child) : undefined;
    const place = path + (fields?.name ?? utf16(idOf(child)).replace(/;1$/, ""));
    if (reader.entries.has(place)) throw new Error(`${place} exists twice`);
    const mode = fields ? { mode: fields.mode } : {};
    if (isDirectory(child)) {
      reader.entries.set(`${place}/`, mode);
      visit(reader, child, `${place}/`);
    } else {
      const content = extentOf(reader.bytes, child).toString("utf8");
      reader.entries.set(place, { content, ...mode });
    }
  }
}

function isDirectory(record: Buffer): boolean {
  return ((record[25] ?? 0) & 2) !== 0;
}

function idOf(record: Buffer): Buffer {
  return record.subarray(33, 33 + (record[32] ?? 0));
}

function isSelfOrParent(id: Buffer): boolean {
  return id.length === 1 && (id[0] === 0 || id[0] === 1);
}

function findDescriptor(bytes: Buffer, type: number): Buffer {
  for (let at = 16; ; at++) {
    const descriptor = bytes.subarray(at * sector, (at + 1) * sector);
    if (descriptor.toString("latin1", 1, 6) !== "CD001") throw new Error("no such descriptor");
    if (descriptor[0] === type) return descriptor;
  }
}

function extentOf(bytes: Buffer, record: Buffer): Buffer {
  const start = bothEndian(record, 2) * sector;
  const end = start + bothEndian(record, 10);
  if (end > bytes.length) throw new Error("an extent leaves the image");
  return bytes.subarray(start, end);
}

function bothEndian(record: Buffer, at: number): number {
  const value = record.readUInt32LE(at);
  if (record.readUInt32BE(at + 4) !== value) throw new Error("the two byte orders differ");
  return value;
}

function* recordsOf(extent: Buffer): Generator<Buffer> {
  for (let at = 0; at < extent.length; ) {
    const length = extent[at] ?? 0;
    if (length === 0) {
      at = (Math.floor(at / sector) + 1) * sector;
      continue;
    }
    if ((at % sector) + length > sector) throw new Error("a record crosses a sector");
    yield extent.subarray(at, at + length);
    at += length;
  }
}

function systemUse(bytes: Buffer, record: Buffer): { name: string; mode: number } {
  const idLength = record[32] ?? 0;
  const areas = [record.subarray(33 + idLength + ((idLength + 1) % 2))];
  const nameParts: Buffer[] = [];
  let mode = 0;
  for (const entry of fieldsOf(areas)) {
    const signature = entry.toString("latin1", 0, 2);
    if (signature === "PX") mode = bothEndian(entry, 4);
    if (signature === "NM") nameParts.push(entry.subarray(5));
    if (signature === "CE") areas.push(continuation(bytes, entry));
  }
  return { name: Buffer.concat(nameParts).toString("utf8"), mode };
}

function* fieldsOf(areas: Buffer[]): Generator<Buffer> {
  for (let area = areas.shift(); area; area = areas.shift()) {
    for (let at = 0; (area[at + 2] ?? 0) >= 4; at += area[at + 2] ?? 4) {
      yield area.subarray(at, at + (area[at + 2] ?? 4));
    }
  }
}

function continuation(bytes: Buffer, entry: Buffer): Buffer {
  const [block, offset, length] = [4, 12, 20].map((at) => bothEndian(entry, at));
  if ((offset ?? 0) + (length ?? 0) > sector) throw new Error("a continuation crosses a sector");
  const start = (block ?? 0) * sector + (offset ?? 0);
  return bytes.subarray(start, start + (length ?? 0));
}

function utf16(bytes: Buffer): string {
  return Buffer.from(bytes).swap16().toString("utf16le");
}
