export { type FolderSourceOptions, folderSource } from "./folder-source.ts";
export { parseManifests, readManifests } from "./read-manifests.ts";
export type { VmiChange, VmiSource } from "./vmi-source.ts";
