export {
  isMigrationError,
  MigrationError,
  type MigrationErrorCode,
} from "../migration-error.ts";
export { type DestinationInput, destinationXml } from "./destination-xml.ts";
export { type AbiChange, diffGuestAbi, requireSameAbi } from "./diff-guest-abi.ts";
