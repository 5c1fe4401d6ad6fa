/** Some bytes of an image. */
export interface Extent {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** An image as its non-zero bytes, in order, and its size. */
export interface SparseImage {
  readonly size: number;
  readonly extents: readonly Extent[];
}

/** The whole image in memory. For tests and small images. */
export function imageBytes({ size, extents }: SparseImage): Uint8Array {
  const bytes = new Uint8Array(size);
  for (const extent of extents) bytes.set(extent.bytes, extent.offset);
  return bytes;
}

/** A hole up to this size is written as zeros, because a system call costs more. */
const smallHole = 16 << 10;
const largestJoin = 1 << 20;

/** The same bytes in fewer pieces: close ones are joined. */
export function joinedExtents(extents: readonly Extent[]): readonly Extent[] {
  const groups: Extent[][] = [];
  for (const extent of extents) {
    const group = groups.at(-1);
    if (group && isClose(group, extent)) group.push(extent);
    else groups.push([extent]);
  }
  return groups.flatMap((group) => (group.length > 1 ? [join(group)] : group));
}

function isClose(group: readonly Extent[], { offset, bytes }: Extent): boolean {
  const [first, last] = [group[0], group.at(-1)];
  if (!first || !last) return false;
  const hole = offset - (last.offset + last.bytes.length);
  return hole >= 0 && hole <= smallHole && offset + bytes.length - first.offset <= largestJoin;
}

function join(group: readonly Extent[]): Extent {
  const offset = group[0]?.offset ?? 0;
  const last = group.at(-1);
  const end = last ? last.offset + last.bytes.length : offset;
  const bytes = new Uint8Array(end - offset);
  for (const extent of group) bytes.set(extent.bytes, extent.offset - offset);
  return { offset, bytes };
}
