import { expect, test } from "vitest";
import { residentOf } from "./resident-memory.ts";

const mapping = (size: number, rss: number): string =>
  `7f00-7f01 rw-p 0 00:00 0 \nSize: ${size} kB\nKernelPageSize: 4 kB\nRss: ${rss} kB\nPss: 1 kB\n`;

test("only mappings of the size of the guest's memory count, and of them what was touched", () => {
  const smaps = mapping(64, 64) + mapping(262_144, 100_000) + mapping(2_097_152, 5);
  expect(residentOf(smaps, 256 * 2 ** 20)).toBe(100_000 * 1024);
  expect(residentOf(mapping(64, 64), 256 * 2 ** 20)).toBeUndefined();
  expect(residentOf("", 256 * 2 ** 20)).toBeUndefined();
});
