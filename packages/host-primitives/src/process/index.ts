export {
  type DetectOptions,
  detectIsolation,
  type Isolation,
  inspectProcess,
  type SocketOwner,
} from "./isolation.ts";
export { type LockedMemory, memlockLimit } from "./memlock-limit.ts";
export { type ProcessStatus, parseStatus } from "./parse-status.ts";
export { type PodMembership, podOfCgroups } from "./pod-of-cgroups.ts";
export { type ProcessFile, ProcessHandle } from "./process-handle.ts";
export {
  getProcessLimit,
  type LimitName,
  type ProcessLimit,
  setProcessLimit,
} from "./process-limits.ts";
export { type ReapedOrphan, type ReapOptions, reapOrphans } from "./reap-orphans.ts";
export type { WaitStatus } from "./wait-calls.ts";
