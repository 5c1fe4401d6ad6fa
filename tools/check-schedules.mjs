#!/usr/bin/env node
/**
 * Runs schedules of the whole control plane in a small world: `npm run check:schedules -- [--schedules N] [--first SEED]
 * [--jobs N] [--minutes N] [--without GUARD]`. Prints how many were run and how many of them were distinct, how often each fault hit
 * each phase, and what was wrong. `--without` removes one guard of `@virtkit/api/grant` everywhere, or plants a fault
 * (`compare-and-swap`, `patience`), and stops at the first violation. Exits 1 if anything is wrong.
 */
import { spawnSync } from "node:child_process";
import { register } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { root, setUpWorkspace } from "./setup.mjs";

const agent = path.join(root, "packages/node-agent");
const compiled = path.join(agent, "node_modules/.cache/schedules/testing/schedules");
const grant = path.join(root, "packages/api/dist/grant");
const planted = new Set(["compare-and-swap", "patience"]);

/** @param {string} directory @param {string} file */
const load = async (directory, file) =>
  await import(pathToFileURL(path.join(directory, file)).href);

/** @typedef {{ first: number, count: number, limit: number, without: string }} Part */

/** The test code is not part of the build: it is compiled to a directory that is not published. */
function compile() {
  const tsc = path.join(root, "node_modules/.bin/tsc");
  const args = ["-p", path.join(agent, "tsconfig.schedules.json")];
  const { status } = spawnSync(tsc, args, { stdio: "inherit" });
  if (status !== 0) throw new Error("the schedules could not be compiled");
}

/**
 * Makes every part of the control plane decide without a guard, by changing the one module that creates the rules. It must
 * not have been loaded before. Threads may share their hooks: what one thread has changed, another leaves as it is.
 * @param {string} guard
 */
async function removeGuard(guard) {
  if (planted.has(guard)) return;
  const hook = `const changed = 'createRules({ without: "${guard}" })';
  export async function load(url, context, next) {
    const loaded = await next(url, context);
    if (!url.endsWith("/packages/api/dist/grant/decide.js")) return loaded;
    const source = String(loaded.source);
    if (source.includes(changed)) return loaded;
    return { ...loaded, source: source.replace("createRules()", changed) + "\\nexport const without = '${guard}';" };
  }`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
  const { without, decide } = await load(grant, "decide.js");
  const used = await load(grant, "index.js");
  if (without !== guard || used.decide !== decide) {
    throw new Error(`the guard ${guard} could not be removed: decide.js was loaded before`);
  }
}

/** @param {string} without */
async function checkGuard(without) {
  const { guards } = await load(grant, "guards.js");
  const known = [...Object.keys(guards), ...planted];
  if (without && !known.includes(without)) {
    throw new Error(`--without: there is no guard ${without}; there are ${known.join(", ")}`);
  }
}

/** @param {Part} part @param {(schedules: number, distinct: number) => void} onProgress */
async function run({ first, count, limit, without }, onProgress) {
  const { exploreSchedules } = await load(compiled, "explore-schedules.js");
  return await exploreSchedules({
    ...{ first, count, limit, onProgress, now: () => performance.now() },
    ...(without ? { stopsAtViolation: true } : {}),
    ...(without === "compare-and-swap" ? { ignoresConditions: true } : {}),
    ...(without === "patience" ? { isImpatient: true } : {}),
  });
}

/** @param {Part} part @returns {Promise<unknown>} */
async function runBeside(part) {
  return await new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: part });
    worker.on("message", resolve).on("error", reject);
  });
}

async function main() {
  const { values } = parseArgs({
    options: {
      schedules: { type: "string", default: "1000" },
      first: { type: "string", default: "1" },
      jobs: { type: "string", default: "1" },
      minutes: { type: "string", default: "100000" },
      without: { type: "string", default: "" },
    },
  });
  const [schedules, first, jobs] = [values.schedules, values.first, values.jobs].map(Number);
  if (![schedules, first, jobs].every((each) => Number.isSafeInteger(each) && (each ?? 0) > 0)) {
    throw new Error("--schedules, --first and --jobs must be whole numbers of at least 1");
  }
  if (!(Number(values.minutes) > 0)) throw new Error("--minutes must be a number above 0");
  await setUpWorkspace();
  await checkGuard(values.without);
  compile();
  if (values.without) await removeGuard(values.without);
  const { joinReports, scheduleReportText } = await load(compiled, "explore-schedules.js");
  const share = Math.ceil(Number(schedules) / Number(jobs));
  const parts = Array.from({ length: Number(jobs) }, (_, index) => ({
    ...{ first: Number(first) + index * share, count: share, without: values.without },
    limit: Number(values.minutes) * 60_000,
  }));
  const begun = performance.now();
  /** @param {number} run @param {number} distinct */
  const tell = (run, distinct) => {
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    process.stderr.write(`${run} schedules, ${distinct} distinct, ${seconds} s\n`);
  };
  const reports =
    parts.length === 1 && parts[0]
      ? [await run(parts[0], tell)]
      : await Promise.all(parts.map(runBeside));
  const report = joinReports(reports);
  process.stdout.write(`${scheduleReportText(report)}\n`);
  if (report.violations.length > 0) process.exitCode = 1;
}

if (isMainThread) await main();
else {
  if (workerData.without) await removeGuard(workerData.without);
  parentPort?.postMessage(await run(workerData, () => {}));
}
