import { expect, test } from "vitest";
import { differingCases, oracleCases, withoutOracle } from "../testing/oracle.ts";

const cases = oracleCases("instancetype");

test("every recorded answer about instance types and preferences is ours too", async ({ skip }) => {
  skip(!cases, withoutOracle);
  expect(await differingCases(cases ?? [])).toEqual([]);
});
