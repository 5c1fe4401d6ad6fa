import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import { afterAll } from "vitest";

/**
 * The API server in the process is as good as the checks that it shares with a real one. So each verb, option and error
 * that a test meets on it must be met by one of those checks; a test file that meets another one fails.
 */
const folder = "packages/testing/src/api-server/testing";
const file = new URL(`../${folder}/checked-calls.txt`, import.meta.url);

/** @type {Set<string>} */
const calls = new Set();

/** @param {unknown} features */
const listen = (features) => {
  for (const feature of /** @type {readonly string[]} */ (features)) calls.add(feature);
};

// This module is loaded anew for each test file, in processes that run many.
subscribe("virtkit:testing:calls", listen);

afterAll(() => {
  unsubscribe("virtkit:testing:calls", listen);
  const checked = new Set(readFileSync(file, "utf8").split("\n"));
  const unchecked = [...calls].filter((call) => !checked.has(call)).toSorted();
  if (unchecked.length === 0) return;
  const list = unchecked.join("; ");
  throw new Error(
    `no check that a real API server passes too has met these calls: ${list}. Add checks to ${folder}`,
  );
});
