export { describeError } from "./describe-error.ts";
export { lineLog } from "./line-log.ts";
export { type Log, type LogDetails, type LogMethod, silentLog } from "./log.ts";
export { type Labels, type Metrics, noMetrics } from "./metrics.ts";
export type { Observers } from "./observers.ts";
