export {
  type DefaultNetwork,
  type DefaultNetworkConfig,
  defaultNetwork,
} from "./default-network.ts";
export { domainAttachments } from "./domain-attachments.ts";
export {
  addInfoSource,
  hasInfoSource,
  type InfoSource,
  removeInfoSource,
} from "./info-source.ts";
export { interfaceStatuses } from "./interface-status.ts";
export { type InterfaceStatus, interfacesOf, isSecondary, primaryNetwork } from "./interfaces.ts";
export {
  isOrdinalTap,
  type LinkNames,
  linkNames,
  podInterfaceCandidates,
  primaryTap,
  type WiredNames,
  wiredNames,
} from "./link-names.ts";
export {
  type InterfaceMerge,
  mergeAddresses,
  mergeGuestInterfaces,
} from "./merge-guest-interfaces.ts";
export {
  hotplugGraceMilliseconds,
  type MigrationRequirement,
  networkMigrationRequirement,
} from "./migration-required.ts";
export {
  attachmentDefinition,
  type BindingPlugins,
  type NetworkProblem,
  networksAnnotation,
} from "./multus-annotation.ts";
export { networkMigrationObstacle } from "./network-migratability.ts";
export {
  type AnnotatedPod,
  type NetworkStatus,
  networkStatusAnnotation,
  networkStatuses,
} from "./network-status.ts";
export {
  defaultNetworkAnnotation,
  livePodAnnotations,
  type PodAnnotations,
  type PodNetworkConfig,
  podAnnotations,
  targetPodAnnotations,
} from "./pod-annotations.ts";
export {
  hashedPodInterface,
  hashedPodInterfaces,
  hasOrdinalInterface,
  isOrdinalPodInterface,
  mayHaveOrdinalInterfaces,
  ordinalPodInterfaces,
  type PodInterfaceNames,
  podInterface,
  podInterfaces,
  primaryPodInterface,
} from "./pod-interface-names.ts";
export { networkRestartRequired } from "./restart-required.ts";
export { sameJson } from "./same-json.ts";
export {
  type Attachments,
  type NetworkSyncPlan,
  type PatchOperation,
  syncVmNetworks,
} from "./vm-network-sync.ts";
