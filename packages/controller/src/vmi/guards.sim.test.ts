import { readFileSync } from "node:fs";
import type { GuardName } from "@virtkit/api/grant";
import { createRules } from "@virtkit/api/grant/checking";
import { describe, expect, test } from "vitest";
import { FaultWorld } from "./testing/fault-world.ts";
import { alwaysHeld, guardScenarios } from "./testing/guard-scenarios.ts";

const calm = { kind: "none", at: 0 } as const;

describe("each guard that the controllers ask is the only one that prevents its fault", () => {
  test.each(Object.entries(guardScenarios))("%s", async (guard, { play, breach }) => {
    const guarded = new FaultWorld(calm);
    await play(guarded);
    expect(guarded.problems).toEqual([]);
    const world = new FaultWorld(calm, createRules({ without: guard as GuardName }));
    await play(world);
    expect(world.problems).toContain(breach);
  });
});

test("every guard that the controllers ask is in the table, or always holds there", async () => {
  const asked = new Set<GuardName>();
  const rules = createRules({ asked: (guard) => asked.add(guard) });
  for (const { play } of Object.values(guardScenarios)) await play(new FaultWorld(calm, rules));
  const listed = [...Object.keys(guardScenarios), ...Object.keys(alwaysHeld)];
  expect([...asked].toSorted()).toEqual(listed.toSorted());
});

test("the table of guards in the docs is up to date", () => {
  const docs = readFileSync(
    new URL("../../../../docs/at-most-one-copy.md", import.meta.url),
    "utf8",
  );
  const rows = Object.entries(guardScenarios).map(
    ([guard, { done, breach }]) => `| \`${guard}\` | ${done} | ${breach} |`,
  );
  expect(rows.filter((row) => !docs.includes(row))).toEqual([]);
});
