import { expect, test } from "vitest";
import { differingCases, oracleCases } from "../testing/oracle.ts";

const cases = oracleCases("cloud-init");

test.skipIf(!cases)("every recorded answer about cloud-init data is ours too", async () => {
  expect(await differingCases(cases ?? [])).toEqual([]);
});
