export {
  DomainManagerError,
  type DomainManagerErrorCode,
  isDomainManagerError,
} from "./domain-manager-error.ts";
export { createDomainManager } from "./manager/create-domain-manager.ts";
export type { DomainManager } from "./manager/domain-manager.ts";
export type { DomainManagerOptions } from "./manager/domain-manager-options.ts";
export type { GrantStore, GrantStoreOptions, StoredGrant } from "./manager/grant-store.ts";
export type {
  DomainStats,
  ExecResult,
  GuestControl,
  GuestFileSystem,
  GuestUser,
  Screenshot,
  SyncRequest,
} from "./manager/guest-control.ts";
export type { StageReport } from "./manager/guest-session.ts";
export {
  type IncomingGuest,
  type IncomingParts,
  prepareIncomingGuest,
} from "./manager/incoming-guest.ts";
export { type ClaimOptions, type ClaimRequest, MayRun, type RunGrant } from "./manager/may-run.ts";
export type { GuestIdentity } from "./manager/run-right.ts";
export { type WantedGuest, wantedDomain } from "./manager/wanted-domain.ts";
export type { PolledLists, PollIntervals } from "./status/agent-polls.ts";
export {
  type DomainHardware,
  type DomainState,
  type DomainStatus,
  domainStates,
  type GuestInterface,
  type GuestOs,
  type PendingChange,
  type ProbeStatus,
} from "./status/domain-status.ts";
export {
  type DomainWatcher,
  type DomainWatcherOptions,
  watchDomain,
} from "./status/domain-watcher.ts";
export {
  type GuestEnd,
  type GuestEndFacts,
  type GuestEndKind,
  guestEnd,
  guestEndKinds,
} from "./status/guest-end.ts";
export type { GuestEvent } from "./status/guest-event.ts";
export { hasEnded, hasLived, isAlive, isOff } from "./status/guest-predicates.ts";
export type { GuestFact, GuestTold } from "./status/guest-record.ts";
