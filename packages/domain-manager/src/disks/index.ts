export type { AccessAgent } from "./access/access-agent.ts";
export { type AccessResult, applyAccess } from "./access/apply-access.ts";
export { type AccessPlan, type AccessStep, planAccess } from "./access/plan-access.ts";
export {
  type AgentCommand,
  type QemuAgentOptions,
  qemuAccessAgent,
} from "./access/qemu-access-agent.ts";
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
export { readVolume, type VolumeLimits } from "./files/read-volume.ts";
export { type FileOwner, type WriteOptions, writeImage } from "./files/write-image.ts";
export { createFirmwareVariables } from "./firmware-variables.ts";
export {
  createHostDisk,
  type HostDiskOptions,
  type HostDiskSize,
  type HostDiskStep,
  hostDiskSize,
  planHostDisks,
} from "./host-disk.ts";
export { type ImageInfo, imageInfo } from "./image/image-info.ts";
export { type BackingImage, qcow2Image } from "./image/qcow2-image.ts";
export { type ImageInfoOptions, readImageInfo } from "./image/read-image-info.ts";
export type { Extent, SparseImage } from "./image/sparse-image.ts";
export { type IsoOptions, isoImage } from "./iso/iso-image.ts";
export type { MediaLimits } from "./iso/iso-tree.ts";
export type { Media, MediaFile } from "./media.ts";
export { type HostMetric, metricsDisk, updateMetricsDisk } from "./metrics-disk.ts";
export { agentSecretNames, cloudInitSecretNames } from "./mounted-secret-names.ts";
export type { MountedFiles, MountedSecrets } from "./mounted-secrets.ts";
export { type DiskStep, type PlanOptions, planDisks } from "./plan-disks.ts";
export {
  type PrepareOptions,
  prepareDisks,
  type WriteCloudInitOptions,
  writeCloudInit,
} from "./prepare-disks.ts";
export { Sealed, sealText } from "./sealed.ts";
