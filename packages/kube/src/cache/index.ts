export { Cache, type CacheOptions } from "./cache.ts";
export type { CacheChange } from "./cache-change.ts";
export { liveRead } from "./live-read.ts";
export type { Listing, Lookup } from "./lookup.ts";
export { keyOf, objectKey } from "./object-key.ts";
