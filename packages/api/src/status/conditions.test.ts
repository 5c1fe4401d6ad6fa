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

test("the same state seen again is no change: the very list comes back", () => {
  expect(setCondition(list, { ...ready, message: "other words", lastTransitionTime: "t1" })).toBe(
    list,
  );
  expect(setCondition(list, { ...ready, reason: "" })).toBe(list);
  expect(removeCondition(list, "Failure")).toBe(list);
  expect(observeCondition(list, "Failure", undefined)).toBe(list);
});

test("another status or another reason takes the place of the old condition", () => {
  expect(setCondition(list, { type: "Ready", status: "False" })).toEqual([
    { type: "Ready", status: "False" },
    paused,
  ]);
  expect(setCondition(list, { ...paused, reason: "PausedIOError" })[1]?.reason).toBe(
    "PausedIOError",
  );
});

test("an observation sets the condition while it lasts and removes it after", () => {
  const failed = observeCondition(list, "Failure", { status: "True", reason: "FailedCreate" });
  expect(hasCondition(failed, "Failure", "True", "FailedCreate")).toBe(true);
  expect(observeCondition(failed, "Failure", undefined)).toEqual(list);
});

test("the lists that were passed in stay as they were", () => {
  setCondition(list, { type: "Ready", status: "False" });
  removeCondition(list, "Ready");
  expect(list).toEqual([ready, paused]);
});

test("lists say the same whatever their order and their words", () => {
  expect(sameConditions(list, [{ ...paused, message: "x" }, ready])).toBe(true);
  expect(sameConditions(list, [ready])).toBe(false);
  expect(sameConditions(list, [ready, { ...paused, reason: "" }])).toBe(false);
});

test("a status of any shape has the conditions that are objects", () => {
  expect(conditionsOf(undefined)).toEqual([]);
  expect(conditionsOf({ status: { conditions: "x" } })).toEqual([]);
  expect(conditionsOf({ status: { conditions: [null, 1, ready] } })).toEqual([ready]);
});

test("every condition type has a writer and a meaning, and no reason twice", () => {
  for (const [type, facts] of Object.entries({ ...vmiConditionTypes, ...vmConditionTypes })) {
    expect([type, facts.meaning.length > 0]).toEqual([type, true]);
    expect(new Set(facts.reasons).size).toBe(facts.reasons.length);
  }
});
