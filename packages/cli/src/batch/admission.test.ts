import { expect, test } from "vitest";
import { answerCase, type OracleCase, oracleCases, withoutOracle } from "../testing/oracle.ts";
import { functions } from "./admission.ts";

const cases = oracleCases("admission");

interface Answer {
  readonly allowed: boolean;
  readonly code?: number;
  readonly causes?: readonly { readonly reason?: string; readonly field?: string }[];
}

test("every recorded answer of KubeVirt's webhooks is ours too", async ({ skip }) => {
  skip(!cases, withoutOracle);
  const differing: string[] = [];
  for (const recorded of cases ?? []) {
    const difference = compare(recorded, (await answerCase(recorded)) as Answer);
    if (difference) differing.push(`${recorded.name}: ${difference}`);
  }
  expect(differing).toEqual([]);
});

/** Compared are the decision, the status code, and the set of reasons and fields. */
function compare({ expected }: OracleCase, answer: Answer): string | undefined {
  const recorded = expected as Answer;
  const wrong: string[] = [];
  if (answer.allowed !== recorded.allowed) wrong.push(`allowed is ${answer.allowed}`);
  if (answer.code !== recorded.code) wrong.push(`code is ${answer.code}, not ${recorded.code}`);
  const ours = causeSet(answer);
  const theirs = causeSet(recorded);
  wrong.push(...[...ours].filter((cause) => !theirs.has(cause)).map((cause) => `also ${cause}`));
  wrong.push(...[...theirs].filter((cause) => !ours.has(cause)).map((cause) => `not ${cause}`));
  return wrong.length > 0 ? wrong.join("; ") : undefined;
}

function causeSet({ causes = [] }: Answer): ReadonlySet<string> {
  return new Set(causes.map(({ reason, field }) => `${reason} ${field}`));
}

test("a request of any shape gets an answer", () => {
  for (const input of [undefined, null, 1, "x", [], {}, { kind: "VirtualMachine", object: 7 }]) {
    expect(functions["admit"]?.(input, undefined)).toMatchObject({ allowed: false });
  }
});
