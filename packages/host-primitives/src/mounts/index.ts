export {
  type BindMountOptions,
  bindMount,
  detachedBind,
  type MountOptions,
  mountTmpfs,
  remount,
  type TmpfsOptions,
  unmount,
} from "./bind-mount.ts";
export {
  type ComparableMount,
  mayContainMount,
  type ParentMountHints,
  parentMount,
} from "./parent-mount.ts";
export { type MountInfo, parseMountInfo } from "./parse-mountinfo.ts";
