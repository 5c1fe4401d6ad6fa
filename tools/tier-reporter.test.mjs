import { expect, test } from "vitest";
import { TierReporter } from "./tier-reporter.mjs";

const testModule = /** @type {import("vitest/node").TestModule} */ (
  /** @type {unknown} */ ({ relativeModuleId: "a.test.ts", errors: () => [] })
);

/** @param {string} fullName @param {object} [result] @param {number} [retryCount] */
function testCase(fullName, result = { state: "passed" }, retryCount = 0) {
  const diagnostic = () => ({ retryCount });
  const fake = { module: testModule, fullName, result: () => result, diagnostic };
  return /** @type {import("vitest/node").TestCase} */ (/** @type {unknown} */ (fake));
}

test("says which tests are running, or after which one a file is", () => {
  const reporter = new TierReporter();
  reporter.onTestModuleQueued(testModule);
  expect(reporter.running).toEqual(["a.test.ts"]);
  reporter.onTestCaseReady(testCase("slow"));
  reporter.onTestCaseReady(testCase("quick"));
  reporter.onTestCaseResult(testCase("quick"));
  expect(reporter.running).toEqual(["a.test.ts: slow"]);
  reporter.onTestCaseResult(testCase("slow"));
  expect(reporter.running).toEqual(["a.test.ts: after slow"]);
  reporter.onTestModuleEnd(testModule);
  expect(reporter.running).toEqual([]);
});

test("counts a skip without a reason as a failure", () => {
  const reporter = new TierReporter();
  reporter.onTestCaseResult(testCase("known", { state: "skipped", note: "not here" }));
  reporter.onTestCaseResult(testCase("silent", { state: "skipped" }));
  expect(reporter.counts).toEqual({ passed: 0, failed: 1, skipped: 1 });
  expect(reporter.lines).toEqual([
    "skipped: a.test.ts: not here: known",
    "skipped: a.test.ts: NO REASON GIVEN, a failure: silent",
  ]);
});

test("counts the last run of a file that runs twice, and says what failed in it", () => {
  const reporter = new TierReporter();
  reporter.onTestModuleQueued(testModule);
  reporter.onTestCaseResult(testCase("steady"));
  reporter.onTestCaseResult(testCase("shaky", { state: "failed" }));
  expect(reporter.counts).toEqual({ passed: 1, failed: 1, skipped: 0 });
  expect([...reporter.failures]).toEqual([["a.test.ts", ["shaky"]]]);
  reporter.onTestModuleQueued(testModule);
  reporter.onTestCaseResult(testCase("steady"));
  reporter.onTestCaseResult(testCase("shaky"));
  expect(reporter.counts).toEqual({ passed: 2, failed: 0, skipped: 0 });
  expect(reporter.failures.size).toBe(0);
});

test("says which tests passed only when they were tried again", () => {
  const reporter = new TierReporter();
  reporter.onTestModuleQueued(testModule);
  reporter.onTestCaseResult(testCase("steady"));
  reporter.onTestCaseResult(testCase("shaky", { state: "passed" }, 1));
  reporter.onTestCaseResult(testCase("broken", { state: "failed" }, 1));
  expect([...reporter.retried]).toEqual([["a.test.ts", ["shaky"]]]);
  expect([...reporter.failures]).toEqual([["a.test.ts", ["broken"]]]);
});
