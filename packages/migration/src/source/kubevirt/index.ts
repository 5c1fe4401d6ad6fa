export { classifyVolumes, type MigrationVolumes } from "../classify-volumes.ts";
export { judgeByTime, type TimedMigration } from "../judge-by-time.ts";
export { singleCallFlags } from "../migration-flags.ts";
export { refuseUnready } from "../refuse-unready.ts";
export { planSingleCall, type SingleCall } from "../single-call.ts";
export { type StallAction, type StallMoment, stallAction } from "../stall-action.ts";
export {
  estimatedDowntimeMs,
  type IterationRecord,
  noIterations,
  type StallState,
  withBandwidth,
  withIteration,
} from "../stall-detector.ts";
