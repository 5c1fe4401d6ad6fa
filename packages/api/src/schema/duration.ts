import type { Schema } from "./schema.ts";

/** A duration in Go's format: `1h30m`, `2.5s`, `100ms`. */
export type Duration = string;

export const DurationSchema: Schema<Duration> = { kind: "string", format: "duration" };

const pattern = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;

/** Whether a string is a {@link Duration}. Each number needs a unit, except a lone `0`. */
export function isDuration(text: string): boolean {
  return pattern.test(text);
}

const milliseconds: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1e3,
  m: 60e3,
  h: 3_600e3,
};

/** Milliseconds of a {@link Duration}, including fractions and signs; `undefined` for any other text. */
export function durationMilliseconds(text: string): number | undefined {
  if (text.length > 100 || !isDuration(text)) return undefined;
  let sum = 0;
  for (const [, value, unit = ""] of text.matchAll(/([\d.]+)([a-zµμ]+)/g)) {
    sum += Number(value) * (milliseconds[unit] ?? 0);
  }
  return text.startsWith("-") ? -sum : sum;
}
