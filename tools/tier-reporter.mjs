/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */
/** @typedef {{ counts: Counts, failed: string[], retried: string[], skipped: Map<string, string[]> }} FileRecord */

/**
 * Counts a tier's tests and says in one line why tests were skipped. A skip without a reason is a
 * failure: `context.skip(condition, "why")` gives one. If a file runs twice, its last run counts.
 */
export class TierReporter {
  /** @type {Map<string, FileRecord>} by file */
  #files = new Map();

  /** @type {Map<string, { begun: Set<string>, ended?: string }>} the tests of files that are running */
  #running = new Map();

  /**
   * Where each running file is: at the tests that have begun and not ended; otherwise after the one
   * that ended last, because a worker that is stuck in a loop does not report what it has begun.
   */
  get running() {
    return [...this.#running].map(([file, { begun, ended }]) => {
      if (begun.size > 0) return `${file}: ${[...begun].join(", ")}`;
      return ended === undefined ? file : `${file}: after ${ended}`;
    });
  }

  /** @returns {Counts} of all files */
  get counts() {
    const sum = { passed: 0, failed: 0, skipped: 0 };
    for (const { counts } of this.#files.values()) {
      sum.passed += counts.passed;
      sum.failed += counts.failed;
      sum.skipped += counts.skipped;
    }
    return sum;
  }

  /** A line for each reason in each file. */
  get lines() {
    return [...this.#files].flatMap(([file, { skipped }]) =>
      [...skipped].map(([reason, names]) => {
        const [first = ""] = names;
        return `skipped: ${file}: ${reason}: ${names.length === 1 ? first : `${names.length} tests`}`;
      }),
    );
  }

  /** @returns {Map<string, string[]>} the files with tests that passed only when they were tried again, and those tests */
  get retried() {
    const shaky = [...this.#files].filter(([, { retried }]) => retried.length > 0);
    return new Map(shaky.map(([file, { retried }]) => [file, retried]));
  }

  /** @returns {Map<string, string[]>} the files with a failure, and what failed in each */
  get failures() {
    const failing = [...this.#files].filter(([, { counts }]) => counts.failed > 0);
    return new Map(failing.map(([file, { failed }]) => [file, failed]));
  }

  /** @param {import("vitest/node").TestModule} testModule */
  onTestModuleQueued(testModule) {
    this.#running.set(testModule.relativeModuleId, { begun: new Set() });
    this.#files.delete(testModule.relativeModuleId);
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
    if (result.state === "passed") {
      const { counts, retried } = this.#file(testCase.module);
      counts.passed++;
      if ((testCase.diagnostic()?.retryCount ?? 0) > 0) retried.push(testCase.fullName);
    }
    if (result.state === "failed") this.#fail(testCase.module, testCase.fullName);
    else if (result.state === "skipped") this.#skip(testCase, result.note);
  }

  /** @param {import("vitest/node").TestModule} testModule */
  onTestModuleEnd(testModule) {
    this.#running.delete(testModule.relativeModuleId);
    // A file that cannot be loaded has no test that could fail.
    if (testModule.errors().length > 0) this.#fail(testModule, "the file itself");
  }

  /** @param {import("vitest/node").TestModule} testModule */
  #file({ relativeModuleId }) {
    const known = this.#files.get(relativeModuleId);
    if (known) return known;
    /** @type {FileRecord} */
    const added = {
      counts: { passed: 0, failed: 0, skipped: 0 },
      failed: [],
      retried: [],
      skipped: new Map(),
    };
    this.#files.set(relativeModuleId, added);
    return added;
  }

  /** @param {import("vitest/node").TestModule} testModule @param {string} name */
  #fail(testModule, name) {
    const file = this.#file(testModule);
    file.counts.failed++;
    file.failed.push(name);
  }

  /**
   * @param {import("vitest/node").TestCase} testCase
   * @param {string | undefined} note
   */
  #skip(testCase, note) {
    const { counts, skipped } = this.#file(testCase.module);
    if (note) counts.skipped++;
    else counts.failed++;
    const reason = note ?? "NO REASON GIVEN, a failure";
    skipped.set(reason, [...(skipped.get(reason) ?? []), testCase.fullName]);
  }
}
