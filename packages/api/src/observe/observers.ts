import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/** The log and the metrics of a long-lived component; by default there are none. */
export interface Observers {
  readonly log?: Log | undefined;
  readonly metrics?: Metrics | undefined;
}
