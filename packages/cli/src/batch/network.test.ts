import { expect, test } from "vitest";
import { differingCases, oracleCases, withoutOracle } from "../testing/oracle.ts";

const cases = oracleCases("network");

test("every recorded answer about the network functions is ours too", async ({ skip }) => {
  skip(!cases, withoutOracle);
  expect(await differingCases(cases ?? [])).toEqual([]);
});
