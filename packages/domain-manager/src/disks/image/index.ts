export { type FileOwner, type WriteOptions, writeImage } from "../files/write-image.ts";
export { type IsoOptions, isoImage } from "../iso/iso-image.ts";
export type { MediaLimits } from "../iso/iso-tree.ts";
export type { Media, MediaFile } from "../media.ts";
export { type ImageInfo, imageInfo } from "./image-info.ts";
export { type BackingImage, qcow2Image } from "./qcow2-image.ts";
export { type ImageInfoOptions, readImageInfo } from "./read-image-info.ts";
export type { Extent, SparseImage } from "./sparse-image.ts";
