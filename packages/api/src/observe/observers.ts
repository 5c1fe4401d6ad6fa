import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/** Who is told what a long-lived part does; nobody by default. */
export interface Observers {
  readonly log?: Log | undefined;
  readonly metrics?: Metrics | undefined;
}
