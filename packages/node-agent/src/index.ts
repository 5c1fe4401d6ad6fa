export {
  isNodeAgentError,
  NodeAgentError,
  type NodeAgentErrorCode,
  type NodeAgentErrorOptions,
} from "./node-agent-error.ts";
export type { PodLinks, ServedInterface, WiringOptions } from "./prepare/guest-network.ts";
export { memlockSize } from "./prepare/locked-memory.ts";
export { type PreparationOptions, planPreparation } from "./prepare/plan-preparation.ts";
export type { FoundImage, PreparationFacts } from "./prepare/preparation-facts.ts";
export { type PreparationStep, stepText } from "./prepare/preparation-step.ts";
export { type Preparation, type PrepareOptions, prepare } from "./prepare/prepare.ts";
export { sandboxFacts } from "./prepare/sandbox-facts.ts";
export { type Progress, type TeardownOptions, teardown } from "./prepare/teardown.ts";
export { guestRequest, withDefaults } from "./run/guest-request.ts";
export { type ReachOptions, reachLauncher } from "./run/reach-launcher.ts";
export { type RunGuestOptions, type RunningGuest, runGuest } from "./run/run-guest.ts";
export { type StopGuestOptions, stopGuest } from "./run/stop-guest.ts";
export {
  currentBootId,
  hasEnded,
  identityOf,
  type ProcessIdentity,
} from "./sandbox/process-identity.ts";
export {
  type ContainerRoot,
  openSandbox,
  type Sandbox,
  type SandboxPlace,
} from "./sandbox/sandbox.ts";
export { type GuestStreamOptions, openConsole, openVnc } from "./streams/guest-streams.ts";
