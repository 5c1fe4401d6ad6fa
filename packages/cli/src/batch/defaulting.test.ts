import { expect, test } from "vitest";
import { differingCases, oracleCases, withoutOracle } from "../testing/oracle.ts";
import { functions } from "./defaulting.ts";

const cases = oracleCases("defaulting");

test("every recorded answer of KubeVirt's mutating webhook is ours too", async ({ skip }) => {
  skip(!cases, withoutOracle);
  expect(await differingCases(cases ?? [])).toEqual([]);
});

test("a request of any shape gets an answer", () => {
  for (const input of [undefined, null, 1, "x", [], {}, { kind: "VirtualMachine", object: 7 }]) {
    expect(functions["mutate"]?.(input, undefined)).toHaveProperty("allowed");
  }
});
