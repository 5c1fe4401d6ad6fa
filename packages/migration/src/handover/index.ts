export {
  type ControlCallOptions,
  type ControlHandler,
  ControlLink,
  type ControlLinkOptions,
} from "./control-link.ts";
export { ControlServer } from "./control-server.ts";
export { DecisionFile, type MigrationStart } from "./decision-file.ts";
export { agreeOnVersion, handoverVersions } from "./handover-version.ts";
export {
  assertSameMigration,
  checkIdentity,
  type MigrationIdentity,
} from "./migration-identity.ts";
export { type ControlCaller, RedialingLink } from "./redialing-link.ts";
export { type SourceEnd, serveSource, sourceOver } from "./source-end.ts";
export {
  type FinishRequest,
  type PhaseAnswer,
  type PrepareRequest,
  serveTarget,
  type TargetEnd,
  type TargetState,
  targetOver,
} from "./target-end.ts";
