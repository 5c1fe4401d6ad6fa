export type { ApiAnswer, ApiRequest } from "./cluster/api-request.ts";
export { attachCluster } from "./cluster/attach-cluster.ts";
export type { Cluster, NodeControl } from "./cluster/cluster.ts";
export type { ServerCertificate } from "./cluster/cluster-keys.ts";
export type { ClusterLayout, NodeLayout } from "./cluster/cluster-layout.ts";
export {
  type ClusterNamespace,
  type ClusterPod,
  type ContainerStatus,
  createNamespace,
  hasCondition,
} from "./cluster/cluster-namespace.ts";
export type { CutFrom } from "./cluster/cluster-network.ts";
export { type ClusterOptions, startCluster } from "./cluster/start-cluster.ts";
export type { CpioEntry } from "./cpio-archive.ts";
export {
  type DevicePlugin,
  type OfferedDevice,
  startDevicePlugin,
} from "./device-plugin/device-plugin.ts";
export { guestDisk } from "./guest-disk.ts";
export { type GuestDomainOptions, guestDomainXml } from "./guest-domain.ts";
export { type GuestImage, guestImage } from "./guest-image.ts";
export { type FilesBelowOptions, filesBelow, type ImageFile } from "./image/image-file.ts";
export { type LauncherImageOptions, launcherImage } from "./image/launcher-image.ts";
export {
  type ImageConfig,
  type ImageOptions,
  type PackedImage,
  packImage,
} from "./image/pack-image.ts";
export { isLabError, LabError, type LabErrorCode } from "./lab-error.ts";
export { type Libvirtd, startLibvirtd } from "./libvirtd.ts";
export type { LibvirtdOptions } from "./libvirtd-options.ts";
export { createPod, type PodFixture } from "./pod-fixture.ts";
export { type GuestRun, runInGuest } from "./run-in-guest.ts";
export { type RunOptions, runProgram } from "./run-program.ts";
export { createSandbox, type Sandbox, type SandboxOptions } from "./sandbox.ts";
