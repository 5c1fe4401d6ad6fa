import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** @typedef {import("../../../tools/bench/benchmark.mjs").Figures} Figures */
/** @typedef {{ cpu: number, wall: number, megabytes: number }} Cost milliseconds */

const packages = fileURLToPath(new URL("../..", import.meta.url));
const runs = 5;

/** Prints what the process has taken so far. */
const report = `
const { user, system } = process.cpuUsage();
const megabytes = process.memoryUsage.rss() / 2 ** 20;
process.stdout.write(JSON.stringify({ cpu: (user + system) / 1000, wall: performance.now(), megabytes }));
`;

/** Writes a dot for each module that is loaded from a file. */
const counter = `data:text/javascript,${encodeURIComponent(
  'import { writeSync } from "node:fs"; export async function load(url, context, next) { if (url.startsWith("file:")) writeSync(2, "."); return next(url, context); }',
)}`;

/** The cheapest of several runs. @param {string} code @returns {Cost} */
function cost(code) {
  const all = Array.from({ length: runs }, () =>
    JSON.parse(
      execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" }),
    ),
  );
  return all.reduce((best, each) => (each.cpu < best.cpu ? each : best));
}

/** @param {string} file */
function modules(file) {
  const code = `await import(${JSON.stringify(file)}); process.exit()`;
  const args = ["--no-warnings", "--loader", counter, "--input-type=module", "-e", code];
  const script = `${JSON.stringify(process.execPath)} "$@" 2>&1 >/dev/null | tr -cd . | wc -c`;
  return Number(execFileSync("sh", ["-c", script, "sh", ...args], { encoding: "utf8" }));
}

/** @type {Cost | undefined} */
let bare;

/** @param {string} file @param {number} [goal] */
async function figures(file, goal) {
  bare ??= cost(report);
  const loaded = cost(`await import(${JSON.stringify(file)}); ${report} process.exit();`);
  const [cpu, wall] = [loaded.cpu - bare.cpu, loaded.wall - bare.wall].map(Math.round);
  const megabytes = (loaded.megabytes - bare.megabytes).toFixed(1);
  const wanted = goal === undefined ? "" : ` [goal: under ${goal} ms]`;
  return `${cpu} ms CPU, ${wall} ms and ${megabytes} MB over bare Node, ${modules(file)} modules${wanted}`;
}

/** Entry points that must load quickly, because people import them into tests and pages. @type {Record<string, number>} */
const goals = { "@virtkit/api/schema": 90 };

/** Entry points that load a package which their users install: it may not be here. */
const withPeers = new Set(["@virtkit/converter/xmlbuilder2"]);

/** What it costs to import each entry point of each published package. @type {Figures[]} */
export const benchmarks = readdirSync(packages).flatMap((folder) => {
  const manifest = JSON.parse(readFileSync(path.join(packages, folder, "package.json"), "utf8"));
  if (manifest.private) return [];
  return Object.entries(manifest.exports).flatMap(([entry, target]) => {
    const name = manifest.name + entry.slice(1);
    if (typeof target === "string" || withPeers.has(name)) return [];
    const file = path.join(packages, folder, target.default);
    return [{ name: `imports: ${name}`, figures: () => figures(file, goals[name]) }];
  });
});
