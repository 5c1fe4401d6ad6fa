export { planMemoryDump, planRemoveMemoryDump } from "./memory-dump.ts";
export { type MigrateOptions, planMigrate } from "./migrate.ts";
export type { Accepted, Refusal, SubresourceOutcome } from "./outcome.ts";
export { planRestart, type RestartOptions, restartRequestFault } from "./restart.ts";
export { planStart, type StartOptions, startObstacle } from "./start.ts";
export { planStop, type StopOptions } from "./stop.ts";
export {
  type VmiSubresourceView,
  vmiPreconditions,
  vmiSubresourceObstacle,
} from "./vmi-preconditions.ts";
export { planVmiVolume, planVmVolume, type VolumeGates, type VolumeRequest } from "./volumes.ts";
