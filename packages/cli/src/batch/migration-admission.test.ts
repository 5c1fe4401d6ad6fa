import { expect, test } from "vitest";
import { differingCases, oracleCases, withoutOracle } from "../testing/oracle.ts";
import { functions } from "./migration-admission.ts";

/**
 * KubeVirt escapes a key of a JSON object as if it were a part of a path; see deviations.md of
 * the api package.
 */
const deviations = new Set(["podevict-descheduler"]);

const cases = oracleCases("migration")?.filter(
  ({ fn, name }) => Object.hasOwn(functions, fn) && !deviations.has(name),
);

test("every recorded answer on policies and evictions is ours too", async ({ skip }) => {
  skip(!cases, withoutOracle);
  expect(await differingCases(cases ?? [])).toEqual([]);
});

test("an input of any shape gets an answer", () => {
  for (const run of Object.values(functions)) {
    for (const input of [undefined, null, 1, "x", [], {}, { vmi: 7, object: 7 }]) {
      expect(run(input, undefined)).toBeTypeOf("object");
    }
  }
});
