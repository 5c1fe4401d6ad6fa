export { hasDedicatedCpus, needsStateClaim, vcpuCount } from "./guest-traits.ts";
export {
  type BackedUpGuest,
  backupHookAnnotations,
  backupHookKeys,
} from "./metadata/backup-hooks.ts";
export { vmiIdentifier } from "./metadata/vmi-identifier.ts";
export { findStateClaim } from "./state-claim.ts";
export { claimNameOf } from "./volumes/claim-name.ts";
export { stateClaimLabel } from "./well-known.ts";
