import { expect, test } from "vitest";
import { goDurationMilliseconds } from "./go-duration.ts";

test.each([
  ["5m0s", 300_000],
  ["1h30m", 5_400_000],
  ["1.5s", 1500],
  ["250ms", 250],
  ["5", undefined],
  ["soon", undefined],
  ["", undefined],
])("%s is %s ms", (duration, milliseconds) => {
  expect(goDurationMilliseconds(duration)).toBe(milliseconds);
});
