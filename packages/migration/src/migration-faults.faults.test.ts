import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { faultNames, isPossible, moments, runFault } from "./testing/fault-case.ts";
import { faultTable } from "./testing/fault-table.ts";
import { TwoNodes } from "./testing/two-nodes.ts";

/** `VIRTKIT_FAULTS="finish|decision"` runs the moments that match, and renews their rows alone. */
const only = process.env["VIRTKIT_FAULTS"] ?? "";
const document = fileURLToPath(new URL("../../../docs/migration-faults.md", import.meta.url));

let lab: TwoNodes;
const outcomes = new Map<string, string>();
beforeAll(async () => {
  lab = await TwoNodes.start();
  await lab.boot();
}, 180_000);
// After each: what is cut short has said what it found out.
afterEach(() => writeFileSync(document, tableNow()));
afterAll(async () => {
  await lab?.[Symbol.asyncDispose]();
  process.stdout.write(`\n${tableNow()}\n`);
}, 60_000);

function tableNow(): string {
  return faultTable(outcomes, existsSync(document) ? readFileSync(document, "utf8") : "");
}

const cases = moments
  .filter((moment) => new RegExp(only).test(moment))
  .flatMap((moment) => faultNames.map((fault) => ({ fault, moment })))
  .filter(({ fault, moment }) => isPossible(fault, moment));

test.each(cases)("$fault lost at $moment: one copy, and no count is lost", async (each) => {
  const { fault, moment } = each;
  const key = `${moment}|${fault}`;
  try {
    outcomes.set(key, await runFault(lab, fault, moment));
  } catch (error) {
    outcomes.set(key, "**failed**");
    // The next case needs a guest that is well.
    await lab.boot();
    throw error;
  }
  expect(["stays", "moves"]).toContain(outcomes.get(key));
});
