export {
  type CreateOptions,
  createFile,
  makeDirectory,
  makeNode,
  type NodeSpec,
  overwriteFile,
  removeDirectory,
  removeFile,
  renameEntry,
  replaceFile,
} from "./change-entries.ts";
export { entryName, type RelativePath, splitPath } from "./entry-name.ts";
export {
  type DeviceNumber,
  type FileStatus,
  type FileType,
  joinDeviceNumber,
  splitDeviceNumber,
} from "./file-status.ts";
export { ifPresent } from "./if-present.ts";
export { type ListOptions, type ReadOptions, SafePath } from "./safe-path.ts";
export { openRoot, type SafeEntry, SafeRoot } from "./safe-root.ts";
