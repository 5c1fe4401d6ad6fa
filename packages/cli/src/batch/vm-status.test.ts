import { expect, test } from "vitest";
import { differingCases, oracleCases, withoutOracle } from "../testing/oracle.ts";

const cases = oracleCases("vm-status");

test("every recorded answer about states of VMs is ours too", async ({ skip }) => {
  skip(!cases, withoutOracle);
  expect(await differingCases(cases ?? [])).toEqual([]);
});
