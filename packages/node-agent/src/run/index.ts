export { type HostArchitecture, hostArchitecture } from "../host-architecture.ts";
export { type GuestStreamOptions, openConsole, openVnc } from "../streams/guest-streams.ts";
export { guestRequest, withDefaults } from "./guest-request.ts";
export { type ReachOptions, reachLauncher } from "./reach-launcher.ts";
export {
  type ReceiveGuestOptions,
  type ReceivingSandbox,
  receiveGuest,
} from "./receive-guest.ts";
export { type RunGuestOptions, type RunningGuest, runGuest } from "./run-guest.ts";
export { endGuest, type StopGuestOptions, stopGuest } from "./stop-guest.ts";
