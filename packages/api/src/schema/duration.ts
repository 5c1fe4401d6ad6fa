import type { Schema } from "./schema.ts";

/** A length of time, as Go writes it: `1h30m`, `2.5s`, `100ms`. */
export type Duration = string;

export const DurationSchema: Schema<Duration> = { kind: "string", format: "duration" };

const pattern = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;

/** Whether a string is a {@link Duration}. Each number has its unit, but for a lone `0`. */
export function isDuration(text: string): boolean {
  return pattern.test(text);
}
