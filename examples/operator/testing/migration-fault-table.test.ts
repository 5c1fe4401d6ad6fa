import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { migrationFaultTable } from "./migration-fault-table.ts";

test("a cell shows the new outcome, or that of an earlier document, or not run", () => {
  const earlier = migrationFaultTable(new Map([["Running|source launcher", "cold"]]));
  const table = migrationFaultTable(new Map([["Running|virt-controller", "moves"]]), earlier);
  const [, , controller, sourceAgent, , sourceLauncher] =
    /^\| Running .*$/m
      .exec(table)?.[0]
      .split("|")
      .map((cell) => cell.trim()) ?? [];
  expect({ controller, sourceAgent, sourceLauncher }).toEqual({
    ...{ controller: "moves", sourceAgent: "not run", sourceLauncher: "cold" },
  });
});

test("the document matches its cells and its text", () => {
  const document = readFileSync(
    new URL("../../../docs/migration-cluster-faults.md", import.meta.url),
    "utf8",
  );
  expect(migrationFaultTable(new Map(), document)).toBe(document);
});
