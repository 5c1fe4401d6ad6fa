import type { Schema } from "./schema.ts";

/** A time in RFC 3339 format: `2026-01-31T08:30:00Z`. */
export type Time = string;

export const TimeSchema: Schema<Time> = { kind: "string", format: "date-time" };

const rfc3339 =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d([.,]\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Whether a string is a {@link Time}. A day that does not exist in its month is not valid, and neither is
 * second 60.
 */
export function isTime(text: string): boolean {
  if (!rfc3339.test(text)) return false;
  const day = Number(text.slice(8, 10));
  return day <= 28 || day <= daysOf(Number(text.slice(0, 4)), Number(text.slice(5, 7)));
}

function daysOf(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
