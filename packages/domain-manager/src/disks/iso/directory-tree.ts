import { bothEndian16, bothEndian32, recordTime, sectorSize, sectorsFor } from "./iso-fields.ts";
import type { NameMaker } from "./iso-names.ts";
import type { IsoDirectory, IsoFile } from "./iso-tree.ts";
import { continuation, continuationLength } from "./rock-ridge.ts";

/** System-use fields of a record: those that must be in it, and those that may be elsewhere. */
export interface SystemUse {
  readonly inRecord: Uint8Array;
  readonly movable: Uint8Array;
}

/** The properties of one of the two trees of an image. */
export interface TreeForm {
  readonly time: Date;
  names(): NameMaker;
  systemUse(node: IsoDirectory | IsoFile, place: "entry" | "self" | "parent" | "root"): SystemUse;
}

interface DirectoryRecord {
  readonly id: Uint8Array;
  readonly target: IsoFile | Extent;
  readonly use: SystemUse;
  /** Where `use.movable` begins in the continuation area, if it is there. */
  readonly movedTo?: number;
}

/** A directory as it lies on the medium. */
interface Extent {
  readonly directory: IsoDirectory;
  readonly id: Uint8Array;
  readonly parent: Extent | undefined;
  /** Its number in the path table. */
  readonly number: number;
  records: DirectoryRecord[];
  sector: number;
  /** Sectors of the records; the continuation area follows them. */
  length: number;
  continuationLength: number;
}

const self = Uint8Array.of(0);
const parentId = Uint8Array.of(1);
const largestRecord = 254;

/** One of the trees of an image: first measured, then placed, then written. */
export class DirectoryTree {
  readonly #form: TreeForm;
  readonly #extents: Extent[] = [];

  constructor(root: IsoDirectory, form: TreeForm) {
    this.#form = form;
    this.#number(root);
    for (const extent of this.#extents) this.#measure(extent);
  }

  /** Sectors of all directories. */
  get sectors(): number {
    return this.#extents.reduce((sum, extent) => sum + extentSectors(extent), 0);
  }

  /** Puts the directories one after the other, from a sector on. */
  place(first: number): void {
    let sector = first;
    for (const extent of this.#extents) {
      extent.sector = sector;
      sector += extentSectors(extent);
    }
  }

  /** Where the first directory, the root, lies. */
  get firstSector(): number {
    return this.#extents[0]?.sector ?? 0;
  }

  /** The root's own record, which the volume descriptor repeats without system use. */
  rootRecord(): Uint8Array {
    const [root] = this.#extents;
    const use = { inRecord: Buffer.alloc(0), movable: Buffer.alloc(0) };
    return root ? this.#write({ id: self, target: root, use }, root) : Buffer.alloc(34);
  }

  /** The directories, as they lie one after the other. */
  directories(): Uint8Array {
    return Buffer.concat(this.#extents.map((extent) => this.#writeExtent(extent)));
  }

  /** The table of all directories, in one of the two byte orders. */
  pathTable(order: "little" | "big"): Uint8Array {
    return Buffer.concat(
      this.#extents.map(({ id, parent, sector }) => {
        const entry = Buffer.alloc(8 + id.length + (id.length % 2));
        entry[0] = id.length;
        if (order === "little") entry.writeUInt32LE(sector, 2);
        else entry.writeUInt32BE(sector, 2);
        if (order === "little") entry.writeUInt16LE(parent?.number ?? 1, 6);
        else entry.writeUInt16BE(parent?.number ?? 1, 6);
        entry.set(id, 8);
        return entry;
      }),
    );
  }

  /** Names and numbers the directories level by level, as the path table lists them. */
  #number(root: IsoDirectory): void {
    const enqueue = (directory: IsoDirectory, id: Uint8Array, parent?: Extent): Extent => {
      const number = this.#extents.length + 1;
      const place = { sector: 0, length: 0, continuationLength: 0 };
      const extent: Extent = { directory, id, parent, number, records: [], ...place };
      this.#extents.push(extent);
      return extent;
    };
    enqueue(root, self);
    // The list grows while it is walked.
    for (const extent of this.#extents) {
      const name = this.#form.names();
      const children = [...extent.directory.children.values()]
        .map((node) => ({ node, id: name(node.name, node.kind === "directory") }))
        .sort((a, b) => Buffer.compare(a.id, b.id));
      extent.records = children.map(({ node, id }) => ({
        id,
        target: node.kind === "directory" ? enqueue(node, id, extent) : node,
        use: this.#form.systemUse(node, "entry"),
      }));
    }
  }

  /**
   * Adds the records of the directory and its parent, and places what does not fit into a record.
   */
  #measure(extent: Extent): void {
    const up = extent.parent ?? extent;
    const place = extent.parent ? "self" : "root";
    const own = { id: self, target: extent, use: this.#form.systemUse(extent.directory, place) };
    const use = this.#form.systemUse(up.directory, "parent");
    let moved = 0;
    extent.records = [own, { id: parentId, target: up, use }, ...extent.records].map((record) => {
      const { movable } = record.use;
      if (recordLength(record) <= largestRecord) return record;
      // A continuation must not cross the end of a sector.
      if ((moved % sectorSize) + movable.length > sectorSize) moved = roundUp(moved);
      const movedTo = moved;
      moved += movable.length;
      return { ...record, movedTo };
    });
    let length = 0;
    for (const record of extent.records) length = startOf(length, record) + recordLength(record);
    extent.length = roundUp(length);
    extent.continuationLength = roundUp(moved);
  }

  #writeExtent(extent: Extent): Uint8Array {
    const bytes = Buffer.alloc(extent.length + extent.continuationLength);
    let at = 0;
    for (const record of extent.records) {
      at = startOf(at, record);
      bytes.set(this.#write(record, extent), at);
      at += recordLength(record);
      if (record.movedTo !== undefined)
        bytes.set(record.use.movable, extent.length + record.movedTo);
    }
    return bytes;
  }

  #write(record: DirectoryRecord, holder: Extent): Uint8Array {
    const { id, target, use, movedTo } = record;
    const bytes = Buffer.alloc(recordLength(record));
    const isDirectory = !("kind" in target);
    bytes[0] = bytes.length;
    bytes.set(bothEndian32(target.sector), 2);
    bytes.set(bothEndian32(isDirectory ? target.length : target.content.length), 10);
    bytes.set(recordTime(this.#form.time), 18);
    bytes[25] = isDirectory ? 2 : 0;
    bytes.set(bothEndian16(1), 28);
    bytes[32] = id.length;
    bytes.set(id, 33);
    const start = fixedLength(id);
    bytes.set(use.inRecord, start);
    bytes.set(
      movedTo === undefined ? use.movable : continuationOf(holder, movedTo, use.movable.length),
      start + use.inRecord.length,
    );
    return bytes;
  }
}

function continuationOf(holder: Extent, movedTo: number, length: number): Uint8Array {
  const first = holder.sector + sectorsFor(holder.length);
  return continuation(first + Math.floor(movedTo / sectorSize), movedTo % sectorSize, length);
}

function extentSectors({ length, continuationLength: more }: Extent): number {
  return sectorsFor(length) + sectorsFor(more);
}

/** Bytes of a record before its system use, which begins at an even offset. */
function fixedLength(id: Uint8Array): number {
  return 33 + id.length + (id.length % 2 === 0 ? 1 : 0);
}

function recordLength({ id, use, movedTo }: DirectoryRecord): number {
  const movable = movedTo === undefined ? use.movable.length : continuationLength;
  const length = fixedLength(id) + use.inRecord.length + movable;
  return length + (length % 2);
}

/** A record must not cross the end of a sector. */
function startOf(at: number, record: DirectoryRecord): number {
  return (at % sectorSize) + recordLength(record) > sectorSize ? roundUp(at) : at;
}

function roundUp(bytes: number): number {
  return sectorsFor(bytes) * sectorSize;
}
