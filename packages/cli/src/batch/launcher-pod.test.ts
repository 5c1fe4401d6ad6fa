import { quantityFrom } from "@virtkit/api/quantity";
import { expect, test } from "vitest";
import { answerCase, type OracleCase, oracleCases, withoutOracle } from "../testing/oracle.ts";

const cases = oracleCases("launcher-pod");

test("every recorded Pod and overhead of KubeVirt is ours too", async ({ skip }) => {
  skip(!cases, withoutOracle);
  const differing: string[] = [];
  for (const recorded of cases ?? []) {
    const answer = await answerCase(recorded);
    differing.push(...differences(recorded, answer).map((text) => `${recorded.name}: ${text}`));
  }
  expect(differing).toEqual([]);
});

function differences({ expected }: OracleCase, answer: unknown): string[] {
  const { error } = expected as { error?: string };
  if (error === undefined) return compare(expected, answer, "");
  return typeof answer === "object" && answer && "thrown" in answer ? [] : ["no error"];
}

/** Every place where two values differ; texts that are equal as quantities do not. */
function compare(expected: unknown, actual: unknown, path: string): string[] {
  if (typeof expected === "object" && expected && typeof actual === "object" && actual) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...keys].flatMap((key) =>
      compare(Reflect.get(expected, key), Reflect.get(actual, key), `${path}/${key}`),
    );
  }
  if (expected === actual || sameQuantity(path, expected, actual)) return [];
  return [`${path}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`];
}

function sameQuantity(path: string, a: unknown, b: unknown): boolean {
  if (!/\/(limits|requests)\/|\/quantity$|\/sizeLimit$/.test(path)) return false;
  if (typeof a !== "string" || typeof b !== "string") return false;
  return quantityFrom(a).equals(quantityFrom(b));
}
