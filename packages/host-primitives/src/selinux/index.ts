export { type AllocateLevelOptions, allocateLevel } from "./allocate-level.ts";
export {
  formatSelinuxContext,
  parseSelinuxContext,
  type SelinuxContext,
  unprivilegedFileContext,
} from "./selinux-context.ts";
export { type LabelResult, readLabel, setLabel } from "./selinux-label.ts";
export {
  type SelinuxMode,
  type SelinuxState,
  type SelinuxStateOptions,
  selinuxModeOf,
  selinuxState,
} from "./selinux-state.ts";
