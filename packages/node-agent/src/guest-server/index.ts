export { answerCall, failed, type NodeAnswer, type RequestEvent } from "./answer-call.ts";
export { type VsockDialerOptions, vsockDialer } from "./dial-vsock.ts";
export { type GuestInSandbox, guestInSandbox } from "./guest-in-sandbox.ts";
export {
  type GuestServer,
  type GuestServerLimits,
  type GuestServerOptions,
  type ServerCredentials,
  startGuestServer,
} from "./guest-server.ts";
export type { CallOutcome, LauncherCall } from "./launcher-call.ts";
export {
  type GuestStream,
  planNodeRequest,
  type Refused,
  type RequestFacts,
  type RequestPlan,
} from "./plan-node-request.ts";
export type { ServedGuest, VsockDialer } from "./served-guest.ts";
