export { labelDevices } from "./label-devices.ts";
export {
  allowUserfaultfd,
  type PostCopySupport,
  postCopySupport,
  type UserfaultfdFacts,
  userfaultfdFacts,
} from "./post-copy-support.ts";
export { type NodePreparation, type PrepareNodeOptions, prepareNode } from "./prepare-node.ts";
export { installSeccompProfile, seccompProfileName } from "./seccomp-profile.ts";
