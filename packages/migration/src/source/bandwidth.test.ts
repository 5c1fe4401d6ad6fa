import { expect, test } from "vitest";
import { bandwidthMiB } from "./bandwidth.ts";

test.each([
  ["0", 0],
  ["1", 1],
  ["100m", 0],
  ["1Mi", 1],
  ["1572863", 1],
  ["1572864", 2],
  ["64Mi", 64],
  ["1G", 954],
])("%s per second is %d MiB per second", (given, expected) => {
  expect(bandwidthMiB(given)).toBe(expected);
});
