/** Watches a resource in its own process, and says what it has seen and how much memory that takes. */
import { readFileSync } from "node:fs";
import { watchers } from "./watchers.mjs";

const [kind, server = ""] = process.argv.slice(2);

let changes = 0;
let awaited = Number.POSITIVE_INFINITY;
/** @type {() => void} */
let reached = () => {};

const watcher = await watchers[/** @type {keyof typeof watchers} */ (kind)](server, () => {
  if (++changes >= awaited) reached();
});

/** Kilobytes of this process, once what is garbage has been collected. */
async function memory() {
  for (let turn = 0; turn < 3; turn++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
}

/** @param {number} count */
async function seen(count) {
  await new Promise((resolve) => {
    reached = () => resolve(undefined);
    awaited = count;
    if (changes >= count) reached();
  });
  awaited = Number.POSITIVE_INFINITY;
  changes -= count;
}

process.on("message", async (/** @type {{ changes?: number }} */ asked) => {
  if (asked.changes === undefined) process.send?.({ kilobytes: await memory() });
  else process.send?.(await seen(asked.changes).then(() => ({})));
});
process.send?.({ size: watcher.size() });
// The process that asked is gone.
process.on("disconnect", () => process.exit());
