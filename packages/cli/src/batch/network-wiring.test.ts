import { expect, test } from "vitest";
import { answerCase, type OracleCase, oracleCases, withoutOracle } from "../testing/oracle.ts";

const cases = oracleCases("network-wiring");

/** Cases that were interrupted; packages/network-setup/deviations.md has the reason. */
const deviations = new Set(["masq-started", "one-started-one-pending"]);

test("every recorded answer of KubeVirt is ours too", async ({ skip }) => {
  skip(!cases, withoutOracle);
  const differing: string[] = [];
  for (const recorded of cases ?? []) {
    if (deviations.has(recorded.name)) continue;
    const answer = comparable(await answerCase(recorded));
    const expected = comparable(recorded.expected);
    differing.push(...differences(answer, expected, "").map((text) => `${recorded.name}${text}`));
  }
  expect(differing).toEqual([]);
});

test("an interrupted wiring is finished, where KubeVirt fails the VM", async ({ skip }) => {
  skip(!cases, withoutOracle);
  for (const recorded of (cases ?? []).filter(({ name }) => deviations.has(name))) {
    const answer = (await answerCase(recorded)) as Record<string, unknown>;
    expect(recorded.expected).toMatchObject({ critical: true });
    expect(answer["error"]).toBeUndefined();
    expect(new Set(Object.values(answer["states"] as object))).toEqual(new Set(["finished"]));
  }
});

/** The wording of an error is free. */
function comparable(answer: unknown): unknown {
  const { error, ...rest } = answer as OracleCase & { error?: unknown };
  return error === undefined ? rest : { ...rest, error: true };
}

function differences(answer: unknown, expected: unknown, path: string): string[] {
  if (typeof answer !== "object" || typeof expected !== "object" || !answer || !expected) {
    if (answer === expected) return [];
    return [`${path}: ${short(answer)} instead of ${short(expected)}`];
  }
  const [left, right] = [answer, expected] as Record<string, unknown>[];
  return [...new Set([...Object.keys(answer), ...Object.keys(expected)])].flatMap((key) =>
    differences(left?.[key], right?.[key], `${path}/${key}`),
  );
}

function short(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 150);
}
