/** Some bytes of an image. */
export interface Extent {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** An image as the bytes that are not zero, in order, and its size. */
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
