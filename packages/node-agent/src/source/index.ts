export { type FolderSourceOptions, folderSource } from "./folder-source.ts";
export { parseVmis, readVmis } from "./read-vmis.ts";
export type { VmiChange, VmiSource } from "./vmi-source.ts";
