export { type FilesBelowOptions, filesBelow, type ImageFile } from "../image/image-file.ts";
export {
  debianPackages,
  type LauncherImageOptions,
  launcherImage,
} from "../image/launcher-image.ts";
export {
  type ImageConfig,
  type ImageOptions,
  type PackedImage,
  packImage,
} from "../image/pack-image.ts";
export type { ApiAnswer, ApiRequest } from "./api-request.ts";
export { attachCluster } from "./attach-cluster.ts";
export type { Cluster, NodeControl } from "./cluster.ts";
export type { ServerCertificate } from "./cluster-keys.ts";
export type { ClusterLayout, NodeLayout } from "./cluster-layout.ts";
export {
  type ClusterNamespace,
  type ClusterPod,
  type ContainerStatus,
  createNamespace,
  hasCondition,
} from "./cluster-namespace.ts";
export type { CutFrom } from "./cluster-network.ts";
export { type ClusterOptions, startCluster } from "./start-cluster.ts";
export { testImages } from "./test-images.ts";
