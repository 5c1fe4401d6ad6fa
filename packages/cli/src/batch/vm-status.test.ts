import { expect, test } from "vitest";
import { differingCases, oracleCases } from "../testing/oracle.ts";

const cases = oracleCases("vm-status");

test.skipIf(!cases)("every recorded answer about states of VMs is ours too", async () => {
  expect(await differingCases(cases ?? [])).toEqual([]);
});
