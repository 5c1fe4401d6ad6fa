export type { SyncFailure } from "./node-conditions.ts";
export { type VmiStatusOptions, vmiStatusFrom } from "./vmi-status-from.ts";
