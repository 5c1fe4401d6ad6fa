import { expect, test } from "vitest";
import { runVirtkit } from "../testing/run-virtkit.ts";

test.each([
  [[], /fence takes confirm or lift, not ""/],
  [["deny", "n1"], /not "deny"/],
  [["confirm"], /fence confirm needs the name of one node/],
  [["confirm", "n1", "n2"], /needs the name of one node/],
  [["lift", "n1", "--boot-id", "b1"], /fence lift takes no --boot-id/],
] as const)("fence %j is wrong usage, with the reason", async (args, words) => {
  const { code, out, err } = await runVirtkit(["fence", ...args]);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toMatch(words);
});
