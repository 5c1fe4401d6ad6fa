import type { Schema } from "./schema.ts";

/** A length of time, as Go writes it: `1h30m`, `2.5s`, `100ms`. */
export type Duration = string;

export const DurationSchema: Schema<Duration> = { kind: "string", format: "duration" };
