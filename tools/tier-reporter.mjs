/**
 * Counts a tier's tests and says in one line why a test was skipped. A skip without a reason is a
 * failure: `context.skip("why")` gives one.
 */
export class TierReporter {
  counts = { passed: 0, failed: 0, skipped: 0 };
  /** @type {string[]} */
  lines = [];

  /** @param {import("vitest/node").TestCase} testCase */
  onTestCaseResult(testCase) {
    const result = testCase.result();
    if (result.state === "passed") this.counts.passed++;
    else if (result.state === "failed") this.counts.failed++;
    else if (result.state === "skipped") this.#skipped(testCase, result.note);
  }

  /** @param {import("vitest/node").TestModule} testModule */
  onTestModuleEnd(testModule) {
    // A file that cannot be loaded has no test that could fail.
    if (testModule.errors().length > 0) this.counts.failed++;
  }

  /**
   * @param {import("vitest/node").TestCase} testCase
   * @param {string | undefined} note
   */
  #skipped(testCase, note) {
    const name = `${testCase.module.relativeModuleId} > ${testCase.fullName}`;
    if (note) {
      this.counts.skipped++;
      this.lines.push(`skipped: ${name}: ${note}`);
    } else {
      this.counts.failed++;
      this.lines.push(`failed: ${name}: skipped without a reason`);
    }
  }
}
