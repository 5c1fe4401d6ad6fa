import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type {
  VirtualMachineInstanceCondition,
  VirtualMachineInstanceStatus,
} from "@virtkit/api/schema";
import type { SyncFailure } from "@virtkit/node-agent/status";
import { expect, test } from "vitest";
import { type RecordedCase, recordedCases } from "../recorded/recorded-cases.ts";
import { type HandlerContext, type HandlerInput, statusesAfter } from "./handler-status.ts";
import { failedPass, notFromDomain } from "./handler-status-gaps.ts";

interface ExpectedPass {
  /** Absent where nothing was written: then the status is what it was. */
  readonly written?: { readonly status: VirtualMachineInstanceStatus };
}

const readme = new URL("../../README.md", import.meta.url);
const cases = recordedCases("handler");
const different = cases.filter((each) => !isEqual(each)).map(({ name }) => name);

function isEqual({ input, context, expected }: RecordedCase): boolean {
  const answers = answersTo(input as HandlerInput, context as HandlerContext);
  return isDeepStrictEqual(answers, expectedOf(input as HandlerInput, expected));
}

function answersTo(input: HandlerInput, context: HandlerContext, failure?: SyncFailure): unknown {
  try {
    return statusesAfter(input, context, failure).map(compared);
  } catch (error) {
    return String(error);
  }
}

function expectedOf({ vmi, steps }: HandlerInput, expected: unknown): unknown {
  let status = (vmi ?? steps?.[0]?.vmi)?.status;
  const { passes = [expected] } = expected as { readonly passes?: readonly unknown[] };
  return passes.map((pass) => {
    status = (pass as ExpectedPass).written?.status ?? status;
    return compared(status);
  });
}

/** As it is recorded: without times and words of conditions and volumes; a reason that is a sentence is words. */
function compared(status: VirtualMachineInstanceStatus = {}): unknown {
  const { conditions = [], volumeStatus = [], ...rest } = status;
  return {
    ...rest,
    conditions: conditions.map(bare).sort((a, b) => (a.type < b.type ? -1 : 1)),
    volumeStatus: volumeStatus.map(({ message: _, ...volume }) => volume),
  };
}

function bare({ type, status, reason = "" }: VirtualMachineInstanceCondition) {
  return { type, status, reason: reason.includes(" ") ? "" : reason };
}

test("the status of a VMI is KubeVirt's in every case but those that do not follow from the domain", () => {
  expect(different.sort()).toEqual(Object.values(notFromDomain).flat().sort());
});

test("where the pass failed, the status is KubeVirt's once that is told", () => {
  const told = cases.filter(({ name }) => notFromDomain[failedPass]?.includes(name));
  const still = told.filter(({ input, context, expected }) => {
    const { networkSetup } = context as { readonly networkSetup?: string };
    const failure = { reason: "a sentence", message: "", isFinal: networkSetup === "critical" };
    const answers = answersTo(input as HandlerInput, context as HandlerContext, failure);
    return !isDeepStrictEqual(answers, expectedOf(input as HandlerInput, expected));
  });
  expect(still.map(({ name }) => name)).toEqual([]);
});

test("the README says how many are equal", () => {
  const equal = cases.length - different.length;
  const written = cases.filter(
    ({ name, expected }) =>
      !different.includes(name) && JSON.stringify(expected).includes('"written"'),
  );
  const sentence = `equal in ${equal} of the ${cases.length} cases of \`handler\`; in ${written.length} of these KubeVirt writes`;
  expect(readFileSync(readme, "utf8").replace(/\s+/g, " ")).toContain(sentence);
});
