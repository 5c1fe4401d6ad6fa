export type { Abortable } from "./abortable.ts";
export { type Clock, realClock, wallTime } from "./clock.ts";
export { every } from "./every.ts";
export { ManualClock } from "./manual-clock.ts";
export { sleep } from "./sleep.ts";
export { type UntilOptions, until } from "./until.ts";
