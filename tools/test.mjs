#!/usr/bin/env node
/**
 * Runs the test tiers: `node tools/test.mjs [TIER...] [--seeds N]`, by default those of `npm test` that this host can
 * run. `--seeds N` draws N times as many seeds. For each tier or test that it cannot run it prints the reason. A tier
 * that does not end is given up after a while, with the names of the tests that are running. The last line is
 * `N passed, N failed, N skipped`.
 */
import path from "node:path";
import { pathToFileURL } from "node:url";
import { killDescendants } from "./kill-tree.mjs";
import { tiers, usualTiers } from "./needs.mjs";
import { isTier, root, setUpTier, setUpWorkspace } from "./setup.mjs";
import { TierReporter } from "./tier-reporter.mjs";
import { within } from "./within.mjs";

/** @typedef {import("./needs.mjs").Tier} Tier */
/** @typedef {import("./tier-reporter.mjs").Counts} Counts */
/** @typedef {{ tier: Tier, line: string, counts: Counts, lines: string[], late?: boolean }} Outcome */

/**
 * When a tier is given up: after several times its usual duration, so that only a hanging tier is.
 * Otherwise whoever waits for the run would not learn where it hangs.
 * @type {Record<Tier, number>}
 */
const limitMinutes = {
  ...{ checks: 12, unit: 8, sim: 10, host: 50, cluster: 8, nodes: 40 },
  faults: 120,
};

/**
 * Tiers of real parts, where a fault that is not ours (of libvirtd, a kubelet, an emulated guest) can fail a
 * test. A few failed files are run once more, alone, and a line says so: look into it, but it does not fail the
 * run. A test that is independent of the others of its file says `retry: 1` instead, and is run again alone.
 * @type {ReadonlySet<Tier>}
 */
const runsTwice = new Set(["host", "cluster", "nodes"]);
/** If more files than this fail, the tier is broken, and a second run would only take time. */
const mostRunTwice = 3;

/** @param {Tier} tier @returns {Promise<Outcome>} */
async function runTier(tier) {
  const reasons = await setUpTier(tier);
  if (reasons.length > 0) return notRun(tier, reasons.join("; "));
  // Vitest is available only once the workspace is set up.
  const { startVitest } = await import(
    pathToFileURL(path.join(root, "node_modules/vitest/dist/node.js")).href
  );
  const reporter = new TierReporter();
  const start = Date.now();
  const minutes = limitMinutes[tier];
  /** Errors outside of any test. */
  let unhandled = 0;
  /** @type {string[]} */
  const twice = [];
  /** @param {readonly string[]} files all, if there are none */
  const run = async (files) => {
    const vitest = await startVitest("test", [...files], {
      root,
      run: true,
      watch: false,
      project: tier === "host" ? ["host", "host-alone"] : [tier],
      passWithNoTests: true,
      reporters: [reporter, "default"],
    });
    unhandled += vitest.state.getUnhandledErrors().length;
    await vitest.close();
  };
  const ended = await within(minutes * 60_000, async () => {
    await run([]);
    const failures = reporter.failures;
    if (!runsTwice.has(tier) || failures.size === 0 || failures.size > mostRunTwice) return;
    for (const [file, names] of failures) twice.push(`run twice: ${file}: ${names.join("; ")}`);
    await run([...failures.keys()]);
  });
  const counts = reporter.counts;
  counts.failed += unhandled + (ended ? 0 : 1);
  for (const [file, names] of reporter.retried) {
    twice.push(`run twice: ${file}: ${names.join("; ")}`);
  }
  const lines = [...reporter.lines, ...twice];
  if (!ended) {
    const at = reporter.running.join("; ") || "no test";
    const line = `${tier}: given up after ${minutes} minutes, while running: ${at}`;
    return { tier, line, counts, lines, late: true };
  }
  const seconds = ((Date.now() - start) / 1000).toFixed(0);
  const total = counts.passed + counts.failed + counts.skipped;
  const line = total === 0 ? "no tests yet" : `${summary(counts)} (${seconds} s)`;
  return { tier, line: `${tier}: ${line}`, counts, lines };
}

/** @param {Tier} tier @param {string} why @returns {Outcome} */
function notRun(tier, why) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  return { tier, line: `${tier}: not run: ${why}`, counts, lines: [] };
}

/** @param {Counts} counts */
function summary({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/**
 * Passes `--seeds N` on to the tests, which print the seeds that they draw.
 * @param {readonly string[]} args
 */
function takeSeeds(args) {
  const at = args.indexOf("--seeds");
  if (at < 0) return [...args];
  const count = args[at + 1] ?? "";
  if (!/^[1-9]\d{0,5}$/.test(count)) {
    throw new Error(`--seeds: found "${count}"; pass how many times as many seeds to draw`);
  }
  process.env["VIRTKIT_SEEDS"] = count;
  return args.toSpliced(at, 2);
}

async function main() {
  const wanted = takeSeeds(process.argv.slice(2));
  const unknown = wanted.find((name) => !isTier(name));
  if (unknown) throw new Error(`there is no tier "${unknown}"; known: ${tiers.join(", ")}`);
  await setUpWorkspace();
  /** @type {Outcome[]} */
  const outcomes = [];
  /** @type {Tier | undefined} the tier that was given up */
  let givenUp;
  for (const tier of wanted.length > 0 ? wanted.filter(isTier) : usualTiers) {
    const outcome = givenUp
      ? notRun(tier, `the ${givenUp} tier was given up`)
      : await runTier(tier);
    if (outcome.late) givenUp = tier;
    outcomes.push(outcome);
  }
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const { counts, lines, line } of outcomes) {
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
    for (const text of [...lines, line]) process.stdout.write(`${text}\n`);
  }
  process.stdout.write(`${summary(total)}\n`);
  // Vitest sets an exit code for each run; the total decides.
  const code = total.failed > 0 || total.passed === 0 ? 1 : 0;
  // A tier that was given up may never end by itself.
  if (givenUp) killDescendants(process.pid);
  process.exit(code);
}

main().catch((error) => {
  process.stderr.write(`test: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
