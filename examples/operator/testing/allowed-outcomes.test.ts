import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { allowedOutcomes } from "./allowed-outcomes.ts";
import { isPossible, migrationFaults } from "./migration-fault.ts";
import { cellsOf } from "./migration-fault-table.ts";
import { faultPhases } from "./migration-hold.ts";

const known = cellsOf(
  readFileSync(new URL("../../../docs/migration-cluster-faults.md", import.meta.url), "utf8"),
);
const cells = migrationFaults
  .flatMap((fault) => faultPhases.map((phase) => ({ fault, phase })))
  .filter(({ fault, phase }) => isPossible(fault, phase));

test("each outcome of the document is allowed", () => {
  for (const { fault, phase } of cells) {
    const outcome = known.get(`${phase}|${fault}`);
    const allowed = allowedOutcomes(fault, phase, { known: outcome, isUpdate: false });
    expect({ fault, phase, allowed }).toEqual({
      ...{ fault, phase, allowed: expect.arrayContaining([outcome]) },
    });
  }
});

test("a guest that stayed or moved is not started cold by a fault that leaves its QEMU alive, not even in an update", () => {
  const allowing = cells.filter(({ fault, phase }) =>
    allowedOutcomes(fault, phase, { known: "cold", isUpdate: true }).includes("cold"),
  );
  const names = new Set(
    allowing.map(({ fault, phase }) =>
      fault.startsWith("target") ? `${fault} at ${phase}` : fault,
    ),
  );
  expect(names).toEqual(
    new Set(["source launcher", "source node lost", "target launcher at Succeeded"]),
  );
});

test("another node than that of the document is allowed only in an update", () => {
  const at = ["virt-controller", "Running"] as const;
  expect(allowedOutcomes(...at, { known: "moves", isUpdate: false })).toEqual(["moves"]);
  expect(allowedOutcomes(...at, { known: "moves", isUpdate: true })).toEqual(["stays", "moves"]);
});

test.each(["**failed**", "not run", undefined])(
  "a cell without an outcome (%s) gets one only in an update",
  (before) => {
    const at = ["virt-controller", "Running"] as const;
    expect(allowedOutcomes(...at, { known: before, isUpdate: false })).toEqual([]);
    expect(allowedOutcomes(...at, { known: before, isUpdate: true })).toEqual(["stays", "moves"]);
  },
);
