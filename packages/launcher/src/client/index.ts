export type { LauncherInfo } from "../channel/launcher-info.ts";
export { isLauncherError, LauncherError, type LauncherErrorCode } from "../launcher-error.ts";
export type {
  GuestMeasure,
  MigrateRequest,
  MigrationReport,
  MigrationVerbs,
  ReceiveRequest,
} from "../migration/migration-verbs.ts";
export { launcherNodeFlags } from "../node-flags.ts";
export {
  type ConnectLauncherOptions,
  connectLauncher,
  type LauncherDialer,
} from "./connect-launcher.ts";
export { dialSafely } from "./dial-safely.ts";
export { type HandOverOptions, handOverSockets } from "./hand-over-sockets.ts";
export type { Handover } from "./handover-message.ts";
export { handoverSocket } from "./handover-socket.ts";
export type { LauncherClient } from "./launcher-client.ts";
