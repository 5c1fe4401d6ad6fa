export {
  type ClusterLookup,
  type ClusterObjects,
  lookupIn,
  type NamedObject,
  type PersistentVolumeClaim,
  type ResourceQuota,
} from "./cluster-lookup.ts";
export type { Explain, Provenance } from "./explain.ts";
export { type HotplugRequest, renderHotplugPod } from "./hotplug/render-hotplug-pod.ts";
export {
  type HotplugTrigger,
  renderHotplugTriggerPod,
} from "./hotplug/render-hotplug-trigger-pod.ts";
export { type KubevirtProfileOptions, kubevirtLauncherProfile } from "./kubevirt-profile.ts";
export {
  isLauncherPodError,
  LauncherPodError,
  type LauncherPodErrorCode,
} from "./launcher-pod-error.ts";
export type {
  Launch,
  LauncherDirectories,
  LauncherProcess,
  LauncherProfile,
  LauncherPrograms,
} from "./launcher-profile.ts";
export { type MemoryOverhead, memoryOverhead, type OverheadPart } from "./memory-overhead.ts";
export type { RenderOptions } from "./open-request.ts";
export type { Container } from "./pod/container.ts";
export type { ExistingPod, Pod, PodSpec } from "./pod/pod.ts";
export type { PodVolume } from "./pod/volume.ts";
export {
  type ExplainedPod,
  explainLauncherPod,
  type LauncherPodOptions,
  renderLauncherPod,
} from "./render-launcher-pod.ts";
export {
  type MigrationSource,
  renderMigrationTargetPod,
  renderTargetTemplate,
} from "./render-migration-target-pod.ts";
export { hostModelSelector } from "./target/host-model-selector.ts";
export type { SourceNode } from "./target/place-target-pod.ts";
export { decentralizedAntiAffinity, targetAntiAffinity } from "./target/target-anti-affinity.ts";
export { targetSelinux } from "./target/target-selinux.ts";
export { type VirtkitProfileOptions, virtkitLauncherProfile } from "./virtkit-profile.ts";
