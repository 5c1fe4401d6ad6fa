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
export { type LiveDevice, type LiveDevices, readLiveDevices } from "./cloud-init/live-devices.ts";
export {
  type ContainerDiskImage,
  findContainerDisk,
  findKernelBootFile,
  type KernelBootFile,
  kernelBootFiles,
} from "./container-disk.ts";
export { DiskError, type DiskErrorCode, type DiskErrorOptions, isDiskError } from "./disk-error.ts";
export { type ConfigVolume, DiskPaths } from "./disk-paths.ts";
export { readSecrets } from "./files/read-secrets.ts";
export { createFirmwareVariables } from "./firmware-variables.ts";
export {
  createHostDisk,
  type HostDiskOptions,
  type HostDiskSize,
  type HostDiskStep,
  planHostDisks,
} from "./host-disk.ts";
export { type HostMetric, updateMetricsDisk } from "./metrics-disk.ts";
export { cloudInitSecretNames } from "./mounted-secret-names.ts";
export type { MountedFiles, MountedSecrets } from "./mounted-secrets.ts";
export { type DiskStep, type PlanOptions, planDisks } from "./plan-disks.ts";
export {
  type PrepareOptions,
  prepareDisks,
  type WriteCloudInitOptions,
  writeCloudInit,
} from "./prepare-disks.ts";
export { Sealed, sealText } from "./sealed.ts";
