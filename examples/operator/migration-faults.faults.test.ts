import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { attachCluster, type Cluster } from "@virtkit/lab/cluster";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { allowedOutcomes } from "./testing/allowed-outcomes.ts";
import { type InstalledOperator, installOperator } from "./testing/installed-operator.ts";
import { isPossible, migrationFaults } from "./testing/migration-fault.ts";
import { MigrationFaultLab, twoCases } from "./testing/migration-fault-lab.ts";
import { cellsOf, migrationFaultTable } from "./testing/migration-fault-table.ts";
import { faultPhases } from "./testing/migration-hold.ts";
import { movingConfiguration } from "./testing/moving-vm.ts";
import { renewRestarted } from "./testing/node-components.ts";

/** `VIRTKIT_FAULTS="launcher at Running"` runs the cases whose names match, and updates only their cells. */
const only = new RegExp(process.env["VIRTKIT_FAULTS"] ?? "");
const document = fileURLToPath(new URL("../../docs/migration-cluster-faults.md", import.meta.url));
/** What the document says before this run. `VIRTKIT_FAULTS_UPDATE=1` accepts that a guest ends up on another node. */
const known = cellsOf(tableNow(new Map()));
const isUpdate = process.env["VIRTKIT_FAULTS_UPDATE"] === "1";

const cases = migrationFaults
  .flatMap((fault) => faultPhases.map((phase) => ({ fault, phase })))
  .filter(({ fault, phase }) => isPossible(fault, phase) && only.test(`${fault} at ${phase}`));

const outcomes = new Map<string, string>();
let cluster: Cluster;
let operator: InstalledOperator;
let lab: MigrationFaultLab;
let endCluster: () => Promise<void>;

// Not for the whole tier: if no case of this file was requested, no cluster is needed.
beforeAll(async () => {
  if (cases.length === 0) return;
  const { setup } = await import("../../tools/nodes/global-setup.mjs");
  endCluster = await setup();
  cluster = attachCluster();
  operator = await installOperator(cluster, movingConfiguration);
  lab = new MigrationFaultLab(cluster);
}, 400_000);

afterAll(async () => {
  await lab?.[Symbol.asyncDispose]();
  await operator?.[Symbol.asyncDispose]();
  await endCluster?.();
}, 300_000);

function tableNow(found: ReadonlyMap<string, string> = outcomes): string {
  return migrationFaultTable(found, existsSync(document) ? readFileSync(document, "utf8") : "");
}

// After each case, so that an interrupted run has reported what it found.
afterEach(() => writeFileSync(document, tableNow()));

test.skipIf(cases.length === 0).each(cases)(
  "$fault at $phase: at most one copy, and no count is lost",
  async ({ fault, phase }) => {
    await renewRestarted(cluster);
    const key = `${phase}|${fault}`;
    outcomes.set(key, "**failed**");
    const start = Date.now();
    try {
      const outcome = await lab.run(fault, phase);
      const allowed = allowedOutcomes(fault, phase, { known: known.get(key), isUpdate });
      const why = `the document says ${known.get(key)}; VIRTKIT_FAULTS_UPDATE=1 accepts another node`;
      expect(allowed, why).toContain(outcome);
      outcomes.set(key, outcome);
    } catch (error) {
      // At once, not only at the end of a long run.
      process.stderr.write(`${String(error)}\n`);
      throw error;
    }
    const seconds = ((Date.now() - start) / 1000).toFixed(0);
    process.stdout.write(`${fault} at ${phase}: ${outcomes.get(key)} (${seconds} s)\n`);
  },
  twoCases,
);
