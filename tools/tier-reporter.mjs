/**
 * Counts a tier's tests and says in one line why tests were skipped. A skip without a reason is a
 * failure: `context.skip(condition, "why")` gives one.
 */
export class TierReporter {
  counts = { passed: 0, failed: 0, skipped: 0 };
  /** @type {Map<string, string[]>} names of the skipped tests by file and reason */
  #skipped = new Map();

  /** @type {Map<string, { begun: Set<string>, ended?: string }>} the tests of files under way */
  #running = new Map();

  /**
   * Where each file under way is: at the tests that have begun and not ended; otherwise after the one
   * that ended last, for a worker that is stuck in a loop does not say what it has begun.
   */
  get running() {
    return [...this.#running].map(([file, { begun, ended }]) => {
      if (begun.size > 0) return `${file}: ${[...begun].join(", ")}`;
      return ended === undefined ? file : `${file}: after ${ended}`;
    });
  }

  /** A line for each reason in each file. */
  get lines() {
    return [...this.#skipped].map(([where, names]) => {
      const [first = ""] = names;
      return `skipped: ${where}: ${names.length === 1 ? first : `${names.length} tests`}`;
    });
  }

  /** @param {import("vitest/node").TestModule} testModule */
  onTestModuleQueued(testModule) {
    this.#running.set(testModule.relativeModuleId, { begun: new Set() });
  }

  /** @param {import("vitest/node").TestCase} testCase */
  onTestCaseReady(testCase) {
    this.#running.get(testCase.module.relativeModuleId)?.begun.add(testCase.fullName);
  }

  /** @param {import("vitest/node").TestCase} testCase */
  onTestCaseResult(testCase) {
    const file = this.#running.get(testCase.module.relativeModuleId);
    file?.begun.delete(testCase.fullName);
    if (file) file.ended = testCase.fullName;
    const result = testCase.result();
    if (result.state === "passed") this.counts.passed++;
    else if (result.state === "failed") this.counts.failed++;
    else if (result.state === "skipped") this.#skip(testCase, result.note);
  }

  /** @param {import("vitest/node").TestModule} testModule */
  onTestModuleEnd(testModule) {
    this.#running.delete(testModule.relativeModuleId);
    // A file that cannot be loaded has no test that could fail.
    if (testModule.errors().length > 0) this.counts.failed++;
  }

  /**
   * @param {import("vitest/node").TestCase} testCase
   * @param {string | undefined} note
   */
  #skip(testCase, note) {
    if (note) this.counts.skipped++;
    else this.counts.failed++;
    const where = `${testCase.module.relativeModuleId}: ${note ?? "NO REASON GIVEN, a failure"}`;
    this.#skipped.set(where, [...(this.#skipped.get(where) ?? []), testCase.fullName]);
  }
}
