import { expect, test } from "vitest";
import { isTime } from "./time.ts";

test.each([
  "2026-01-31T08:30:00Z",
  "2024-02-29T23:59:59.123456789+14:00",
  "0001-01-01T00:00:00Z",
  "2000-02-29T00:00:00-05:30",
])("%s is a time", (text) => {
  expect(isTime(text)).toBe(true);
});

test.each([
  "",
  "2026-01-31",
  "2026-01-31 08:30:00Z",
  "2026-01-31T08:30:00",
  "2026-1-31T08:30:00Z",
  "2026-13-01T00:00:00Z",
  "2026-04-31T00:00:00Z",
  "1900-02-29T00:00:00Z",
  "2026-01-31T24:00:00Z",
  "2026-01-31T23:59:60Z",
  "2026-01-31T08:30:00Z\n",
])("%j is not a time", (text) => {
  expect(isTime(text)).toBe(false);
});
