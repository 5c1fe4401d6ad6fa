import { expect, test } from "vitest";
import { differingCases, type OracleCase } from "./oracle.ts";

const recorded = (
  expected: unknown,
  input: unknown = { failCount: 1, maxDelaySeconds: 300 },
): OracleCase => ({
  name: "case",
  area: "vm-status",
  fn: "startBackoff",
  input,
  context: {},
  expected,
});

test("an answer that differs is told by the case's name and the first place that does", async () => {
  expect(await differingCases([recorded({ minSeconds: 10, maxSeconds: 15 })])).toEqual([]);
  expect(await differingCases([recorded({ minSeconds: 10, maxSeconds: 16 })])).toEqual([
    "startBackoff case: /maxSeconds is 15, not 16",
  ]);
});

test("where KubeVirt crashed an answer is wrong and a failure is right", async () => {
  expect(await differingCases([recorded({ panic: true })])).toHaveLength(1);
  const verb = { ...recorded({ panic: true }, { verb: "no-such" }), fn: "subresource" };
  expect(await differingCases([verb])).toEqual([]);
});
