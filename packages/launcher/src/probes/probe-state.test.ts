import fc from "fast-check";
import { expect, test } from "vitest";
import { afterCheck, type ProbeOutcome, type ProbeThresholds, untried } from "./probe-state.ts";

const pass: ProbeOutcome = { ok: true };
const fail: ProbeOutcome = { ok: false, message: "no" };

function states(outcomes: readonly ProbeOutcome[], thresholds: ProbeThresholds): string[] {
  let state = untried;
  return outcomes.map((outcome) => {
    state = afterCheck(state, outcome, thresholds);
    return state.state;
  });
}

test("a state changes only after its threshold of equal outcomes in a row", () => {
  const checks = [fail, pass, pass, fail, fail, pass, fail, fail, fail, pass, pass];
  expect(states(checks, { success: 2, failure: 3 })).toEqual([
    ...["pending", "pending", "passing", "passing", "passing", "passing"],
    ...["passing", "passing", "failing", "failing", "passing"],
  ]);
});

test("keeps the reason of the last failure until a check passes", () => {
  const failed = afterCheck(untried, fail, { success: 1, failure: 3 });
  expect(failed).toEqual({ state: "pending", streak: -1, message: "no" });
  expect(afterCheck(failed, pass, { success: 1, failure: 3 })).toEqual({
    state: "passing",
    streak: 1,
  });
});

test("for any outcomes, the last sufficiently long run decides the state", () => {
  const threshold = fc.integer({ min: 1, max: 4 });
  fc.assert(
    fc.property(fc.array(fc.boolean()), threshold, threshold, (checks, success, failure) => {
      const found = states(
        checks.map((ok) => (ok ? pass : fail)),
        { success, failure },
      ).at(-1);
      const runs = checks.map((ok) => (ok ? "+" : "-")).join("");
      const passed = runs.lastIndexOf("+".repeat(success)) + success;
      const failed = runs.lastIndexOf("-".repeat(failure)) + failure;
      const never = [success - 1, failure - 1];
      const isPending = passed === never[0] && failed === never[1];
      if (checks.length === 0) return;
      if (isPending) expect(found).toBe("pending");
      else if (failed === never[1]) expect(found).toBe("passing");
      else if (passed === never[0]) expect(found).toBe("failing");
      else expect(found).toBe(passed > failed ? "passing" : "failing");
    }),
  );
});
