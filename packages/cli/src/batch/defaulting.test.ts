import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { answerCase, oracleCases, withoutOracle } from "../testing/oracle.ts";
import { functions } from "./defaulting.ts";

const cases = oracleCases("defaulting");

test("every recorded answer of KubeVirt's mutating webhook is ours too", async ({ skip }) => {
  skip(!cases, withoutOracle);
  const differing: string[] = [];
  for (const recorded of cases ?? []) {
    const { message: _, ...answer } = (await answerCase(recorded)) as Record<string, unknown>;
    const { message: __, ...expected } = recorded.expected as Record<string, unknown>;
    if (!isDeepStrictEqual(answer, expected)) {
      differing.push(`${recorded.name}: ${differences(expected, answer).join("; ")}`);
    }
  }
  expect(differing).toEqual([]);
});

/** Where two JSON values differ, one line each. */
function differences(expected: unknown, answer: unknown, path = ""): string[] {
  if (isDeepStrictEqual(expected, answer)) return [];
  if (isObject(expected) && isObject(answer)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(answer)]);
    return [...keys].flatMap((key) => differences(expected[key], answer[key], `${path}.${key}`));
  }
  return [`${path} is ${JSON.stringify(answer)}, not ${JSON.stringify(expected)}`];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

test("a request of any shape gets an answer", () => {
  for (const input of [undefined, null, 1, "x", [], {}, { kind: "VirtualMachine", object: 7 }]) {
    expect(functions["mutate"]?.(input, undefined)).toHaveProperty("allowed");
  }
});
