import { expect, test } from "vitest";
import { vmConditionTypes, vmiConditionTypes } from "./condition-types.ts";
import {
  type Condition,
  conditionsOf,
  hasCondition,
  observeCondition,
  removeCondition,
  sameConditions,
  setCondition,
} from "./conditions.ts";

const ready: Condition = { type: "Ready", status: "True", lastTransitionTime: "t0" };
const paused: Condition = { type: "Paused", status: "True", reason: "PausedByUser" };
const list = [ready, paused];

test("seeing the same state again is not a change: returns the same list", () => {
  expect(setCondition(list, { ...ready, message: "other words", lastTransitionTime: "t1" })).toBe(
    list,
  );
  expect(setCondition(list, { ...ready, reason: "" })).toBe(list);
  expect(removeCondition(list, "Failure")).toBe(list);
  expect(observeCondition(list, "Failure", undefined)).toBe(list);
});

test("another status or reason replaces the old condition", () => {
  expect(setCondition(list, { type: "Ready", status: "False" })).toEqual([
    { type: "Ready", status: "False" },
    paused,
  ]);
  expect(setCondition(list, { ...paused, reason: "PausedIOError" })[1]?.reason).toBe(
    "PausedIOError",
  );
});

test("an observation sets the condition while it lasts and removes it afterwards", () => {
  const failed = observeCondition(list, "Failure", { status: "True", reason: "FailedCreate" });
  expect(hasCondition(failed, "Failure", "True", "FailedCreate")).toBe(true);
  expect(observeCondition(failed, "Failure", undefined)).toEqual(list);
});

test("does not change the given lists", () => {
  setCondition(list, { type: "Ready", status: "False" });
  removeCondition(list, "Ready");
  expect(list).toEqual([ready, paused]);
});

test("lists are equal whatever their order and messages", () => {
  expect(sameConditions(list, [{ ...paused, message: "x" }, ready])).toBe(true);
  expect(sameConditions(list, [ready])).toBe(false);
  expect(sameConditions(list, [ready, { ...paused, reason: "" }])).toBe(false);
});

test("reads the conditions that are objects from a status of any shape", () => {
  expect(conditionsOf(undefined)).toEqual([]);
  expect(conditionsOf({ status: { conditions: "x" } })).toEqual([]);
  expect(conditionsOf({ status: { conditions: [null, 1, ready] } })).toEqual([ready]);
});

test("every condition type has a writer and a meaning, and unique reasons", () => {
  for (const [type, facts] of Object.entries({ ...vmiConditionTypes, ...vmConditionTypes })) {
    expect([type, facts.meaning.length > 0]).toEqual([type, true]);
    expect(new Set(facts.reasons).size).toBe(facts.reasons.length);
  }
});
