import { expect, test } from "vitest";
import { answerCase, type OracleCase, oracleCases, withoutOracle } from "../testing/oracle.ts";
import { functions } from "./migration.ts";

const cases = oracleCases("migration")?.filter(({ fn }) => Object.hasOwn(functions, fn));

test("every recorded answer of KubeVirt on migrations is ours too", async ({ skip }) => {
  skip(!cases, withoutOracle);
  const differing: string[] = [];
  for (const recorded of cases ?? []) {
    const answer = await answerCase(recorded);
    const difference = differs(recorded, answer);
    if (difference) differing.push(`${recorded.name}: ${difference}`);
  }
  expect(differing).toEqual([]);
});

function differs({ expected }: OracleCase, answer: unknown): string {
  if (Object.hasOwn(expected as object, "error")) {
    return Object.hasOwn(answer as object, "thrown") ? "" : "no error";
  }
  const [found, wanted] = [sorted(answer), sorted(expected)];
  return found === wanted ? "" : `${found}, not ${wanted}`;
}

/** JSON with the keys of every object in order. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    typeof item === "object" && item && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
