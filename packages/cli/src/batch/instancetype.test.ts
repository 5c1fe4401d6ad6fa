import { expect, test } from "vitest";
import { differingCases, oracleCases } from "../testing/oracle.ts";

const cases = oracleCases("instancetype");

test.skipIf(!cases)(
  "every recorded answer about instance types and preferences is ours too",
  async () => {
    expect(await differingCases(cases ?? [])).toEqual([]);
  },
);
