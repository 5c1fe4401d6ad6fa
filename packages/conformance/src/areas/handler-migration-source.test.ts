import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { withoutWords } from "../recorded/compare-answers.ts";
import { type RecordedCase, recordedCases } from "../recorded/recorded-cases.ts";
import {
  type SourcePassContext,
  type SourcePassInput,
  sourcePasses,
} from "./handler-migration-source.ts";

/** Cases that are answered otherwise, with the reason. */
const gaps: Readonly<Record<string, string>> = {
  "src-ended-60s-ago-target-unseen":
    "In the very second in which it gives up, KubeVirt also asks for another pass.",
  "src-interfaces-refreshed":
    "The interfaces in the status are those of the pass that reports the guest, not of the migration's.",
  "src-start-no-target-node":
    "KubeVirt starts the migration and in the same pass declares the VMI failed; without a target nothing is started.",
};

const cases = recordedCases("handler-migration").filter(({ fn }) => fn === "source-pass");

function differs({ input, context, expected }: RecordedCase): boolean {
  const passes = sourcePasses(input as SourcePassInput, context as SourcePassContext);
  const { passes: recorded = [expected] } = expected as { readonly passes?: readonly unknown[] };
  const answers: unknown = withoutWords(JSON.parse(JSON.stringify(passes)));
  return !isDeepStrictEqual(answers, recorded.map(withoutLocal));
}

/** What else is done on the node is not compared: ours is another structure. */
function withoutLocal(pass: unknown): object {
  const { local: _, ...rest } = pass as { readonly local?: unknown };
  return rest;
}

test("a pass of a migration's source is KubeVirt's in every case but those that are listed", () => {
  const different = cases.filter(differs).map(({ name }) => name);
  expect(different.sort()).toEqual(Object.keys(gaps).sort());
});

test("the README says how many are equal", () => {
  const equal = cases.length - Object.keys(gaps).length;
  const sentence = `equal in ${equal} of the ${cases.length} cases of \`source-pass\``;
  expect(
    readFileSync(new URL("../../README.md", import.meta.url), "utf8").replace(/\s+/g, " "),
  ).toContain(sentence);
});
