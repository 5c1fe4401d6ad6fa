import { expect, test } from "vitest";
import { domainStates } from "./domain-status.ts";
import { hasEnded, hasLived, isAlive, isOff } from "./guest-predicates.ts";

test("each state but one is a sign of life or of an end", () => {
  const having = (predicate: (status: { state: string }) => boolean): string[] =>
    domainStates.filter((state) => predicate({ state }));
  expect(having(isOff)).toEqual(["Shutoff", "Crashed"]);
  expect(having(hasEnded)).toEqual(["Absent", "Shutoff", "Crashed"]);
  expect(having(isAlive)).toEqual(["Running", "Blocked", "Paused", "ShuttingDown", "PMSuspended"]);
  expect(having((status) => !isAlive(status) && !hasEnded(status))).toEqual(["NoState"]);
});

test.each([
  ["Paused", "User", true],
  ["Shutoff", "Destroyed", true],
  ["Shutoff", "Unknown", false],
  ["Absent", "NonExistent", false],
] as const)("a guest that is %s for the reason %s has lived: %s", (state, reason, lived) => {
  expect(hasLived({ state, reason })).toBe(lived);
});
