import { expect, test } from "vitest";
import { memlockLimit } from "./memlock-limit.ts";

const overheadBytes = 281_018_368n;
const gibibyte = 1_073_741_824n;

test.each([
  [0n, 0, overheadBytes],
  [gibibyte, 0, 1_354_760_368n],
  [gibibyte, 1, 1_354_760_368n],
  [1_000_001n, 0, 282_019_368n],
  [gibibyte, 2, 1_354_760_368n + gibibyte],
  [gibibyte, 4, 1_354_760_368n + 3n * gibibyte],
])("a guest of %d bytes with %d devices locks %d bytes", (guestBytes, vfioDevices, limit) => {
  expect(memlockLimit({ overheadBytes, guestBytes, vfioDevices })).toBe(limit);
});
