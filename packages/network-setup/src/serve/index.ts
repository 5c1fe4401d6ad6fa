export {
  type GuestIdentity,
  type RunningServers,
  startGuestServers,
} from "./guest-servers.ts";
export { type GuestSockets, openGuestSockets } from "./guest-sockets.ts";
export {
  encodeRouterAdvertisement,
  isRouterSolicitation,
  type RouterConfig,
} from "./router-advertisement.ts";
export type { ServerCounters } from "./server-counters.ts";
