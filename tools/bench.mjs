#!/usr/bin/env node
/**
 * Runs the benchmarks: `npm run bench [-- PART_OF_A_NAME]`. Each prints one line with the time of an
 * operation, the same in units of a calibration job, and the ratio to its baseline. The time is the
 * median over rounds of code that is warmed up. "Best" is the round that other processes disturbed
 * least, "cold" the first one, in which the code is not compiled yet. No result makes the run fail.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { measure } from "./bench/measure.mjs";
import { root, setUpWorkspace } from "./setup.mjs";

/** @typedef {import("./bench/benchmark.mjs").Benchmark} Benchmark */
/** @typedef {import("./bench/benchmark.mjs").Figures} Figures */

/** The benchmarks of each package; not below `node_modules`, whose links are circular. */
function files() {
  const packages = path.join(root, "packages");
  return readdirSync(packages)
    .map((name) => path.join(packages, name, "bench"))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((file) => path.join(folder, file)))
    .filter((file) => file.endsWith(".bench.mjs"))
    .sort();
}

/** @param {Benchmark | Figures} benchmark */
async function report(benchmark) {
  const available = (await benchmark.available?.()) ?? true;
  if (available !== true) return `not run: ${available || "not available here"}`;
  if ("figures" in benchmark) return await benchmark.figures();
  try {
    return describe(benchmark, await measure(benchmark));
  } finally {
    await benchmark.close?.();
  }
}

/**
 * @param {Benchmark} benchmark
 * @param {import("./bench/measure.mjs").Measurement} measurement
 */
function describe({ baseline, reference, goal }, measurement) {
  const { subject, best, cold, calibrated, ratio, spread, bytes } = measurement;
  const parts = [
    `${number(subject)} us (best ${number(best)}, cold ${number(cold)})`,
    `${number(calibrated)} calibrations`,
  ];
  if (baseline && ratio !== undefined) {
    const [low, high] = spread ?? [];
    parts.push(
      `${number(ratio)} x as fast as ${baseline.name} (${number(low)} to ${number(high)})`,
    );
  }
  if (reference) {
    const [usual, atBest] = [subject, best].map((time) => number(reference.microseconds / time));
    const { calibrations } = reference;
    const steady = calibrations ? `, by calibrations ${number(calibrations / calibrated)}` : "";
    parts.push(`${usual} x as fast as ${reference.name} (best ${atBest}${steady})`);
  }
  if (bytes !== undefined) parts.push(`${number(bytes)} bytes allocated`);
  return parts.join(", ") + (goal ? ` [goal: ${goal}]` : "");
}

/** @param {number | undefined} value */
function number(value) {
  return value === undefined ? "?" : String(Number(value.toPrecision(3)));
}

async function main() {
  const wanted = process.argv[2] ?? "";
  /** @type {(Benchmark | Figures)[]} */
  const all = [];
  // All of them first: once a process has called fstat on a socket, Node 20 no longer follows the links of
  // packages.
  for (const file of files()) {
    /** @type {{ benchmarks: (Benchmark | Figures)[] }} */
    const { benchmarks } = await import(pathToFileURL(file).href);
    all.push(...benchmarks);
  }
  for (const benchmark of all.filter(({ name }) => name.includes(wanted))) {
    process.stdout.write(`${benchmark.name}: ${await report(benchmark)}\n`);
  }
}

if (globalThis.gc) {
  await main();
} else {
  // Bytes can be counted only if a collection can be requested.
  await setUpWorkspace();
  const args = ["--expose-gc", fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  process.exitCode = spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1;
}
