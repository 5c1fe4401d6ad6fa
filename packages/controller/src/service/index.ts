export { CacheFeeds, type CacheFeedsOptions, type FedCache } from "./cache-feeds.ts";
export { compileLate } from "./compile-late.ts";
export type { ControllerPart, ControllerPartMaker, PartContext } from "./controller-part.ts";
export {
  type Controllers,
  type ControllersOptions,
  createControllers,
  standardParts,
} from "./create-controllers.ts";
export { evacuationPart } from "./evacuation-part.ts";
export { type InstallationPartOptions, installationPart } from "./installation-part.ts";
export { migrationPart } from "./migration-part.ts";
export { nodePart } from "./node-part.ts";
export { poolPart } from "./pool-part.ts";
export { replicaSetPart } from "./replica-set-part.ts";
export { type InstalledProjects, SharedCaches } from "./shared-caches.ts";
export { sharedWatch, syncedFirst } from "./shared-watch.ts";
export { UnseenWrites, type UnseenWritesOptions } from "./unseen-writes.ts";
export { vmPart } from "./vm-part.ts";
export { vmiPart } from "./vmi-part.ts";
export { workloadUpdatePart } from "./workload-update-part.ts";
