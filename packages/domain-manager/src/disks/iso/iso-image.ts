import { DiskError } from "../disk-error.ts";
import type { SparseImage } from "../image/sparse-image.ts";
import type { Media } from "../media.ts";
import { DirectoryTree, type TreeForm } from "./directory-tree.ts";
import { sectorSize, sectorsFor } from "./iso-fields.ts";
import { jolietNames, plainNames } from "./iso-names.ts";
import { type IsoDirectory, type IsoFile, isoTree, type MediaLimits } from "./iso-tree.ts";
import {
  alternateName,
  extensionReference,
  posixAttributes,
  sharingProtocol,
  timeStamps,
} from "./rock-ridge.ts";
import { descriptorsEnd, volumeDescriptor } from "./volume-descriptor.ts";

/** Options of {@link isoImage}. */
export interface IsoOptions extends MediaLimits {
  /** Time of every file. Default: a fixed one, so that the same files give the same image. */
  readonly time?: Date;
}

/** DOS cannot represent an earlier time. */
const defaultTime = new Date("1980-01-01T00:00:00Z");
/** Sectors before the first descriptor; ISO 9660 leaves them to others. */
const systemArea = 16;
/** Images end at a full MiB, as in KubeVirt: a migration needs the same size on both sides. */
const granule = 1 << 20;
const nothing = new Uint8Array(0);

/**
 * An ISO 9660 image of a medium: Rock Ridge for Linux, Joliet for Windows, plain names for firmware.
 * The same medium always gives the same bytes.
 *
 * @example
 * ```ts
 * const files = [{ path: "user-data", content: sealText("#cloud-config\n") }];
 * await writeImage("/tmp/seed.iso", isoImage({ label: "cidata", files }));
 * ```
 *
 * @throws DiskError if the label has over 32 letters or others than printable ASCII, or a file is refused.
 */
export function isoImage(
  { label, files }: Media,
  { time = defaultTime, ...limits }: IsoOptions = {},
): SparseImage {
  checkLabel(label);
  const root = isoTree(files, limits);
  const trees = {
    plain: new DirectoryTree(root, rockRidgeForm(time)),
    joliet: new DirectoryTree(root, jolietForm(time)),
  };

  let next = systemArea + 3;
  const allot = (sectors: number) => {
    const first = next;
    next += sectors;
    return first;
  };
  const tables = Object.entries(trees).map(([form, tree]) => {
    const bytes = tree.pathTable("little").length;
    const [little, big] = [allot(sectorsFor(bytes)), allot(sectorsFor(bytes))];
    return { form: form as "plain" | "joliet", tree, bytes, little, big };
  });
  for (const { tree } of tables) tree.place(allot(tree.sectors));
  const contents = filesOf(root);
  for (const file of contents) file.sector = allot(sectorsFor(file.content.length));

  const size = Math.ceil((next * sectorSize) / granule) * granule;
  const parts: [number, Uint8Array][] = [];
  for (const [at, { form, tree, bytes, little, big }] of tables.entries()) {
    const facts = { form, label, time, pathTableBytes: bytes, rootRecord: tree.rootRecord() };
    const places = { littlePathTable: little, bigPathTable: big, totalSectors: size / sectorSize };
    parts.push([systemArea + at, volumeDescriptor({ ...facts, ...places })]);
    parts.push([little, tree.pathTable("little")], [big, tree.pathTable("big")]);
    parts.push([tree.firstSector, tree.directories()]);
  }
  parts.push([systemArea + tables.length, descriptorsEnd()]);
  for (const { sector, content } of contents) parts.push([sector, content]);
  return {
    size,
    extents: parts
      .filter(([, bytes]) => bytes.length > 0)
      .sort(([a], [b]) => a - b)
      .map(([sector, bytes]) => ({ offset: sector * sectorSize, bytes })),
  };
}

function checkLabel(label: string): void {
  if (/^[ -~]{1,32}$/.test(label)) return;
  throw new DiskError(
    "DISK_VMI_INVALID",
    `medium: label ${JSON.stringify(label.slice(0, 100))} must have 1 to 32 letters of printable ASCII`,
    { path: "volumeLabel" },
  );
}

function filesOf(root: IsoDirectory): IsoFile[] {
  return [...root.children.values()].flatMap((node) =>
    node.kind === "file" ? node : filesOf(node),
  );
}

const directoryType = 0o040000;
const fileType = 0o100000;

function rockRidgeForm(time: Date): TreeForm {
  return {
    time,
    names: plainNames,
    systemUse: (node, place) => {
      const attributes =
        node.kind === "directory"
          ? posixAttributes(directoryType | 0o555, 2 + subdirectories(node))
          : posixAttributes(fileType | (node.mode & 0o777), 1);
      const common = [attributes, timeStamps(time)];
      const inRecord = place === "root" ? [sharingProtocol(), ...common] : common;
      const movable = { entry: () => alternateName(node.name), root: extensionReference };
      return {
        inRecord: Buffer.concat(inRecord),
        movable: place === "entry" || place === "root" ? movable[place]() : nothing,
      };
    },
  };
}

function subdirectories({ children }: IsoDirectory): number {
  return [...children.values()].filter(({ kind }) => kind === "directory").length;
}

function jolietForm(time: Date): TreeForm {
  return { time, names: jolietNames, systemUse: () => ({ inRecord: nothing, movable: nothing }) };
}
