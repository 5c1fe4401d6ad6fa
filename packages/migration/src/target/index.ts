export {
  isMigrationError,
  MigrationError,
  type MigrationErrorCode,
} from "../migration-error.ts";
export { type DestinationInput, destinationXml } from "./destination-xml.ts";
export { type AbiChange, diffGuestAbi, requireSameAbi } from "./diff-guest-abi.ts";
export { ReceiveFile } from "./receive-file.ts";
export { type TargetGrant, targetGrant } from "./receive-grant.ts";
export { MigrationReceiver, type ReceivedOutcome } from "./receive-migration.ts";
export type { TargetParts, TargetSeam } from "./receive-parts.ts";
export {
  type FollowOptions,
  followTarget,
  type SettledTarget,
  type SettleTargetOptions,
  settleTarget,
} from "./receive-settle.ts";
export { withVolumeSizes } from "./with-volume-sizes.ts";
