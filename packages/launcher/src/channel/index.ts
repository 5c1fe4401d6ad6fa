export type {
  GuestMeasure,
  MigrateRequest,
  MigrationReport,
  MigrationVerbs,
  ReceiveRequest,
} from "../migration/migration-verbs.ts";
export type { LauncherInfo } from "./launcher-info.ts";
export { answerBytes, channelVersions, requestBytes } from "./messages.ts";
export { type ServedConnection, type ServeOptions, serveConnection } from "./serve-connection.ts";
export { type VerbName, verbs } from "./verbs.ts";
