export {
  type CloudInitData,
  type CloudInitMetadata,
  type CloudInitOptions,
  type CloudInitSource,
  hasUserData,
  readCloudInit,
} from "./cloud-init/cloud-init-data.ts";
export {
  type CloudInitContent,
  type CloudInitMediaOptions,
  cloudInitImage,
  cloudInitMedia,
} from "./cloud-init/cloud-init-media.ts";
export {
  type DeviceMetadata,
  type DeviceMetadataOptions,
  type DeviceTopology,
  deviceMetadata,
} from "./cloud-init/device-metadata.ts";
export {
  type LiveAddress,
  type LiveDevice,
  type LiveDevices,
  readLiveDevices,
} from "./cloud-init/live-devices.ts";
export { DiskError, type DiskErrorCode, type DiskErrorOptions, isDiskError } from "./disk-error.ts";
export type { Media, MediaFile } from "./media.ts";
export type { MountedFiles, MountedSecrets } from "./mounted-secrets.ts";
export { Sealed, sealText } from "./sealed.ts";
