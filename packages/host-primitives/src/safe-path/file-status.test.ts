import fc from "fast-check";
import { expect, test } from "vitest";
import { joinDeviceNumber, splitDeviceNumber } from "./file-status.ts";

test("splits device numbers as the kernel joins them", () => {
  expect(splitDeviceNumber(0x0ae8n)).toEqual({ major: 10, minor: 232 });
  expect(splitDeviceNumber(0x100800n)).toEqual({ major: 8, minor: 256 });
  expect(joinDeviceNumber({ major: 253, minor: 300 })).toBe(0x10_fd2cn);
});

test("joining and splitting are inverse for all 32-bit parts", () => {
  const part = fc.integer({ min: 0, max: 0xffffffff });
  fc.assert(
    fc.property(part, part, (major, minor) => {
      expect(splitDeviceNumber(joinDeviceNumber({ major, minor }))).toEqual({ major, minor });
    }),
  );
});
