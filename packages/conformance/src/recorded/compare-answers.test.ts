import { expect, test } from "vitest";
import { compareAnswer, differenceOf, withoutWords } from "./compare-answers.ts";
import { type RecordedCase, recordedCases } from "./recorded-cases.ts";

const recorded = (
  expected: unknown,
  input: unknown = { failCount: 1, maxDelaySeconds: 300 },
): RecordedCase => ({
  name: "case",
  area: "vm-status",
  fn: "startBackoff",
  input,
  context: {},
  expected,
});

test("reports the first place in which an answer differs", async () => {
  expect(await differenceOf(recorded({ minSeconds: 10, maxSeconds: 15 }))).toBeUndefined();
  expect(await differenceOf(recorded({ minSeconds: 10, maxSeconds: 16 }))).toBe(
    "/maxSeconds is 15, not 16",
  );
});

test("if KubeVirt crashed, an answer is wrong and a failure is right", async () => {
  expect(await differenceOf(recorded({ panic: true }))).toMatch("KubeVirt crashed");
  const verb = { ...recorded({ panic: true }, { verb: "no-such" }), fn: "subresource" };
  expect(await differenceOf(verb)).toBeUndefined();
});

test("compares only whether there is an error, not its message", () => {
  const failing = recorded({ error: true });
  expect(compareAnswer(failing, { thrown: "Error: no" })).toBeUndefined();
  expect(compareAnswer(failing, { answer: { error: "it is not so" } })).toBeUndefined();
  expect(compareAnswer(failing, { answer: {} })).toMatch("/error is missing");
  expect(compareAnswer(recorded({}), { thrown: "Error: no" })).toMatch("threw Error: no");
});

test("leaves out sentences; codes, reasons and values stay", () => {
  const answer = {
    message: "of any words",
    causes: [{ reason: "FieldValueInvalid", field: "spec.x", message: "no" }],
    warnings: ["one", "two"],
    events: ["Warning FailedCreate the Pod was refused"],
    reason: "a sentence",
    error: "Conflict",
  };
  expect(withoutWords(answer)).toEqual({
    causes: [{ reason: "FieldValueInvalid", field: "spec.x" }],
    warnings: 2,
    events: ["Warning FailedCreate"],
    error: "Conflict",
  });
});

test.each([
  ["an additional field", { a: 1, b: 2 }, "/b is 2, not missing"],
  ["a missing field", {}, "/a is missing, not 1"],
  ["an object instead of a list", { a: { 0: 1 } }, '/a is {"0":1}, not 1'],
])("%s is a difference", (_, answer, place) => {
  expect(compareAnswer(recorded({ a: 1 }), { answer })).toBe(place);
});

test("an object that looks like a list is not one", () => {
  expect(compareAnswer(recorded([1]), { answer: { 0: 1 } })).toMatch("the answer is");
});

test("fails for an area without cases, because nothing would be compared", () => {
  expect(() => recordedCases("no-such")).toThrow("has no recorded cases");
});
