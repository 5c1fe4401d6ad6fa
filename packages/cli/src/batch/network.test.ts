import { expect, test } from "vitest";
import { differingCases, oracleCases } from "../testing/oracle.ts";

const cases = oracleCases("network");

test.skipIf(!cases)("every recorded answer about the network functions is ours too", async () => {
  expect(await differingCases(cases ?? [])).toEqual([]);
});
