import { expect, test } from "vitest";
import { oracleCases, withoutOracle } from "../testing/oracle.ts";
import { functions } from "./migration-admission.ts";

const cases = oracleCases("migration")?.filter(({ fn }) => Object.hasOwn(functions, fn));

/**
 * KubeVirt escapes a key of a JSON object as if it were a part of a path; see deviations.md of
 * the api package.
 */
const deviations = new Set(["podevict-descheduler"]);

test("every recorded answer on policies and evictions is ours too", ({ skip }) => {
  skip(!cases, withoutOracle);
  const differing: string[] = [];
  for (const { name, fn, input, context, expected } of cases ?? []) {
    const ours = comparable(functions[fn]?.(input, context));
    const theirs = comparable(expected);
    if (ours !== theirs && !deviations.has(name)) differing.push(`${name}: ${ours}, not ${theirs}`);
  }
  expect(differing).toEqual([]);
});

/** Everything but the messages, which are our own. */
function comparable(answer: unknown): string {
  return JSON.stringify(answer, (key, value: unknown) => {
    if (key === "message") return undefined;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

test("an input of any shape gets an answer", () => {
  for (const run of Object.values(functions)) {
    for (const input of [undefined, null, 1, "x", [], {}, { vmi: 7, object: 7 }]) {
      expect(run(input, undefined)).toBeTypeOf("object");
    }
  }
});
