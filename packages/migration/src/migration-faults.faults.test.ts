import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, expect, test } from "vitest";
import { allowedOutcomes } from "./testing/allowed-outcomes.ts";
import { runFault } from "./testing/fault-case.ts";
import { FaultLab } from "./testing/fault-lab.ts";
import { faultNames, isPossible, moments } from "./testing/fault-moments.ts";
import { faultTable } from "./testing/fault-table.ts";

/** `VIRTKIT_FAULTS="finish|decision"` runs the moments and faults that match, and renews their cells alone. */
const only = new RegExp(process.env["VIRTKIT_FAULTS"] ?? "");
const document = fileURLToPath(new URL("../../../docs/migration-faults.md", import.meta.url));

const nodes = new FaultLab();
const outcomes = new Map<string, string>();
// After each: what is cut short has said what it found out.
afterEach(() => writeFileSync(document, tableNow()));
afterAll(async () => {
  await nodes[Symbol.asyncDispose]();
  process.stdout.write(`\n${tableNow()}\n`);
}, 60_000);

function tableNow(): string {
  return faultTable(outcomes, existsSync(document) ? readFileSync(document, "utf8") : "");
}

const cases = moments
  .flatMap((moment) => faultNames.map((fault) => ({ fault, moment })))
  .filter(({ fault, moment }) => isPossible(fault, moment) && only.test(`${fault} at ${moment}`));

test.each(cases)("$fault lost at $moment: at most one copy, and no count is lost", async (each) => {
  const { fault, moment } = each;
  const key = `${moment}|${fault}`;
  outcomes.set(key, "**failed**");
  const outcome = await nodes.use((lab) => runFault(lab, fault, moment));
  expect(allowedOutcomes(fault, moment)).toContain(outcome);
  outcomes.set(key, outcome);
});
