import { expect, test } from "vitest";
import {
  answerCase,
  type OracleCase,
  oracleCases,
  withoutOracle,
  withoutWords,
} from "../testing/oracle.ts";
import { functions } from "./quantity.ts";

const cases = oracleCases("quantity");

test("every recorded answer of Kubernetes is ours too", async ({ skip }) => {
  skip(!cases, withoutOracle);
  const differing: string[] = [];
  for (const recorded of cases ?? []) {
    const answer = await answerCase(recorded);
    const difference = differences(recorded, answer);
    if (difference) differing.push(difference);
  }
  expect(differing).toEqual([]);
});

/** Numbers that do not fit 64 bits are not compared: what is recorded is an overflow. */
const guards: Readonly<Record<string, string>> = {
  value: "valueInRange",
  milliValue: "milliValueInRange",
  scaledValue: "inRange",
};

function differences(recorded: OracleCase, given: unknown): string {
  const [expected = {}, answer = {}] = [recorded.expected, given].map(
    (side) => withoutWords(side, recorded) as Record<string, unknown>,
  );
  const keys = new Set([...Object.keys(expected), ...Object.keys(answer)]);
  const wrong = [...keys].filter((key) => {
    const guard = guards[key];
    const compared = guard === undefined || expected[guard] !== false;
    return compared && JSON.stringify(expected[key]) !== JSON.stringify(answer[key]);
  });
  const shown = wrong.map((key) => `${key}: ${String(answer[key])}, not ${String(expected[key])}`);
  return wrong.length === 0 ? "" : `${recorded.name}: ${shown.join("; ")}`;
}

test.each(["", "1e", "e-10"])("%j is no quantity, which is an answer", (text) => {
  const error = expect.stringContaining(`"${text}" is no quantity`);
  expect(functions["parse"]?.({ text }, {})).toEqual({ error });
});

test.each([
  ["parse", {}, "input.text"],
  ["parse", { text: 7 }, "input.text"],
  ["parse", null, "input.text"],
  ["roundUp", { a: "1", scale: "x" }, "input.scale"],
  ["mul", { a: "1", factor: 1.5 }, "input.factor"],
])("%s of %j is refused with the field's name", (fn, input, path) => {
  expect(() => functions[fn]?.(input, {})).toThrow(
    expect.objectContaining({ code: "BATCH_BAD_INPUT", path }),
  );
});

test("an exponent beyond the limit is a failure, not an answer", () => {
  expect(() => functions["parse"]?.({ text: "1e999999999" }, {})).toThrow(
    expect.objectContaining({ code: "API_QUANTITY_SIZE" }),
  );
});
