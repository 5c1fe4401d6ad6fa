import { expect, test } from "vitest";
import { durationMilliseconds, isDuration } from "./duration.ts";

test.each(["0", "1h", "-1.5h", "1h30m2.5s", "100ms", "7us", "7µs", ".5s", "1.s", "+3ns"])(
  "%s is a duration",
  (text) => {
    expect(isDuration(text)).toBe(true);
  },
);

test.each(["", "1", "h", "1d", "1 h", "1h ", "--1h", ".s", "1h30", "9".repeat(100_000)])(
  "%j is not a duration",
  (text) => {
    expect(isDuration(text)).toBe(false);
  },
);

test.each([
  ["5m0s", 300_000],
  ["-1.5h", -5_400_000],
  ["1500ms", 1500],
  ["1h0.5s", 3_600_500],
  ["0", 0],
  ["7us", 0.007],
])("%s has the right milliseconds", (text, milliseconds) => {
  expect(durationMilliseconds(text)).toBeCloseTo(milliseconds, 6);
});

test("other text has no milliseconds", () => {
  expect(durationMilliseconds("5")).toBeUndefined();
});
