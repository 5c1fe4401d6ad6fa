import { expect, test } from "vitest";
import { answerCase, type OracleCase, oracleCases, withoutOracle } from "../testing/oracle.ts";

const cases = oracleCases("dhcp");

/** Cases in which KubeVirt corrupts the packet; packages/network-setup/deviations.md has the reason. */
const deviations = new Set(["reply-long-option-wraps", "reply-many-routes-wrap"]);

test("every recorded answer of KubeVirt is ours too", async ({ skip }) => {
  skip(!cases, withoutOracle);
  const differing: unknown[] = [];
  for (const recorded of cases ?? []) {
    if (deviations.has(recorded.name)) continue;
    const answer = comparable(await answerCase(recorded));
    const expected = comparable(recorded.expected);
    if (JSON.stringify(answer) !== JSON.stringify(expected)) {
      differing.push({ name: recorded.name, answer, expected });
    }
  }
  expect(differing).toEqual([]);
});

/** Sorted by key; the wording of an error is free. */
function comparable(answer: unknown): unknown {
  const fields = Object.entries(answer as OracleCase).map(([key, value]) =>
    /error$/i.test(key) ? [key, true] : [key, sorted(value)],
  );
  return Object.fromEntries(fields.sort());
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort());
}
