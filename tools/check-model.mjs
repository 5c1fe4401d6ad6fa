#!/usr/bin/env node
/**
 * Checks the model of the run grant: `npm run check:model [-- --deep]`. Prints what it checked, how often each
 * step was taken, and the shortest path to any fault. Exits 1 if there is one, or if it could not check
 * everything.
 */
import path from "node:path";
import { parseArgs } from "node:util";
import { root, setUpWorkspace } from "./setup.mjs";

const { values } = parseArgs({ options: { deep: { type: "boolean", default: false } } });
await setUpWorkspace();
const built = path.join(root, "packages/testing/dist");
const { explore, traceText } = await import(path.join(built, "explore/index.js"));
const { checkText, deep, everyday, everydayFaults, grantModel } = await import(
  path.join(built, "grant-model/index.js")
);

const mostStates = 100_000_000;
for (const options of values.deep ? [deep] : [everyday, ...everydayFaults]) {
  const model = grantModel(options);
  const result = explore(model, {
    mostStates,
    onProgress: (/** @type {number} */ states) => process.stderr.write(`${states} states so far\n`),
  });
  process.stdout.write(`${checkText(options, result, { counts: true })}\n`);
  if (result.violation) process.stdout.write(`${traceText(model, result.violation.trace)}\n`);
  if (result.violation || !result.exhausted) process.exitCode = 1;
}
