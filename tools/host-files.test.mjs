import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { alone, long } from "./host-files.mjs";
import { LongestFirst } from "./longest-first.mjs";
import { operatorFiles } from "./nodes/operator-files.mjs";
import { root } from "./setup.mjs";

test.each([...alone, ...long, ...operatorFiles])("%s exists", (file) => {
  expect(existsSync(path.join(root, file))).toBe(true);
});

/** What the sequencer needs from Vitest. @param {Record<string, number>} durations of files that have run before */
function sequencer(durations) {
  const cache = {
    getFileTestResults: (/** @type {string} */ key) => {
      const duration = durations[key.replace(/^host:/, "")];
      return duration === undefined ? undefined : { duration, failed: false };
    },
    getFileStats: (/** @type {string} */ key) => ({ size: key.length }),
  };
  const context = /** @type {any} */ ({ cache, config: { root } });
  return new LongestFirst(context);
}

/** @param {string} file */
function specification(file) {
  const project = { name: "host", config: { sequence: { groupOrder: 1 }, isolate: true } };
  return /** @type {any} */ ({ project, moduleId: path.join(root, file) });
}

const [listed = ""] = long;
const other = `packages/${"x".repeat(200)}.host.test.ts`;

test.each([
  ["a listed file comes first if no durations are known", {}, [listed, other]],
  ["the last duration of a file counts more", { [listed]: 1, [other]: 2 }, [other, listed]],
])("%s", async (_, durations, expected) => {
  const sorted = await sequencer(durations).sort([other, listed].map(specification));
  expect(sorted.map(({ moduleId }) => path.relative(root, moduleId))).toEqual(expected);
});

test("files that share an installation come last, in their order, whatever their durations", async () => {
  const durations = Object.fromEntries(operatorFiles.map((file, index) => [file, 10 + index]));
  const files = [...operatorFiles.toReversed(), other];
  const sorted = await sequencer({ ...durations, [other]: 1 }).sort(files.map(specification));
  const order = sorted.map(({ moduleId }) => path.relative(root, moduleId));
  expect(order).toEqual([other, ...operatorFiles]);
});
