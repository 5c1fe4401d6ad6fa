import { expect, test } from "vitest";
import { within } from "./within.mjs";

test("waits for what ends in time, and passes its error on", async () => {
  expect(await within(60_000, async () => {})).toBe(true);
  await expect(within(60_000, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
});

test("gives up what does not end", async () => {
  expect(await within(1, () => new Promise(() => {}))).toBe(false);
});
