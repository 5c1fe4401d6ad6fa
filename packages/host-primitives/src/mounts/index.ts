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
  MountJournal,
  type MountRecord,
  type MountState,
  planRecovery,
  type RecoveryStep,
} from "./mount-journal.ts";
export {
  type ComparableMount,
  mayContainMount,
  type ParentMountHints,
  parentMount,
} from "./parent-mount.ts";
export { type MountInfo, parseMountInfo } from "./parse-mountinfo.ts";
