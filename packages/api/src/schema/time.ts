import type { Schema } from "./schema.ts";

/** A moment, as RFC 3339 has it: `2026-01-31T08:30:00Z`. */
export type Time = string;

export const TimeSchema: Schema<Time> = { kind: "string", format: "date-time" };
