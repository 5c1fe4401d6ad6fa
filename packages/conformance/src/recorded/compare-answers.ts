import { isDeepStrictEqual } from "node:util";
import { quantityFrom } from "@virtkit/api/quantity";
import { reconcileEffect } from "../reconcile/reconcile-effect.ts";
import { answerCase, type CaseAnswer } from "./answer-case.ts";
import type { RecordedCase } from "./recorded-cases.ts";
import { diffXmlTrees, readXmlTree } from "./xml-tree.ts";

/**
 * The first place in which an answer differs from the recorded one; undefined if it does not. Messages are not
 * compared, see {@link withoutWords}.
 */
export async function differenceOf(recorded: RecordedCase): Promise<string | undefined> {
  return compareAnswer(recorded, await answerCase(recorded));
}

/** {@link differenceOf} for a given answer. */
export function compareAnswer(recorded: RecordedCase, given: CaseAnswer): string | undefined {
  const { area, expected } = recorded;
  if ("thrown" in given) {
    return hasFailed(expected) ? undefined : `the function threw ${given.thrown}`;
  }
  if (isDeepStrictEqual(expected, { panic: true }))
    return "there is an answer, but KubeVirt crashed";
  const compare = comparisons[area] ?? firstDifference;
  return compare(withoutWords(given.answer), expected, "");
}

/** Whether KubeVirt only answered that it failed or crashed. */
function hasFailed(expected: unknown): boolean {
  return (
    isDeepStrictEqual(expected, { panic: true }) || isDeepStrictEqual(expected, { error: true })
  );
}

/** Names of fields that hold sentences for people. */
const words = new Set([
  "message",
  "messages",
  "semanticMessage",
  "failureReason",
  "searchOptionError",
  "lastError",
]);

/**
 * An answer in the recorded form: without sentences for people. Codes, reasons, fields and values are facts and
 * stay. An error that is a sentence becomes `true`, warnings become their number, and an event
 * (`Warning FailedCreate the VM ...`) keeps its type and its reason.
 */
export function withoutWords(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(withoutWords);
  if (typeof answer === "string") {
    return /^(Normal|Warning) \w+ /.test(answer) ? answer.split(" ").slice(0, 2).join(" ") : answer;
  }
  if (typeof answer !== "object" || answer === null) return answer;
  const entries = Object.entries(answer)
    .filter(([key, value]) => !words.has(key) && !(key === "reason" && isSentence(value)))
    .map(([key, value]): [string, unknown] => {
      if (key === "warnings" && Array.isArray(value)) return [key, value.length];
      if (key === "error" && isSentence(value)) return [key, true];
      return [key, withoutWords(value)];
    });
  return Object.fromEntries(entries);
}

function isSentence(value: unknown): boolean {
  return typeof value === "string" && value.includes(" ");
}

type Comparison = (answer: unknown, expected: unknown, path: string) => string | undefined;

/** What is compared if it is not the whole answer, as the README of each area defines it. */
const comparisons: Readonly<Record<string, Comparison>> = {
  admission: (answer, expected, path) =>
    firstDifference(decision(answer), decision(expected), path),
  converter: (answer, expected) => compareConversion(answer as Conversion, expected as Conversion),
  // What else is done on the node is not compared: our structure differs.
  handler: (answer, expected, path) =>
    firstDifference(withoutLocal(answer), withoutLocal(expected), path),
  "handler-migration": (answer, expected, path) =>
    firstDifference(withoutLocal(answer), withoutLocal(expected), path),
  "launcher-pod": (answer, expected, path) => firstDifference(answer, expected, path, sameQuantity),
  "migration-source": (answer, expected, path) =>
    compareDestination(answer, expected) ??
    firstDifference(without(answer, ["destXML"]), without(expected, ["destXML"]), path),
  "node-controller": compareEffects,
  evacuation: compareEffects,
  "migration-controller": compareEffects,
  pool: compareEffects,
  replicaset: compareEffects,
  "vm-controller": compareEffects,
  "workload-updater": compareEffects,
  "vmi-controller": compareEffects,
  quantity: (answer, expected, path) => {
    const outOfRange = Object.entries(rangeOf).flatMap(([field, flag]) =>
      Reflect.get(Object(expected), flag) === false ? [field] : [],
    );
    return firstDifference(without(answer, outOfRange), without(expected, outOfRange), path);
  },
};

/** The decision of a webhook: yes or no, the code, and the set of reasons and fields. */
function decision(answer: unknown): unknown {
  const {
    allowed,
    code,
    causes = [],
  } = answer as {
    allowed?: boolean;
    code?: number;
    causes?: readonly { reason?: string; field?: string }[];
  };
  const named = causes.map(({ reason, field }) => `${reason} ${field}`);
  return { allowed, code, causes: [...new Set(named)].sort() };
}

/** Passes of controllers are compared by what they bring about. */
function compareEffects(answer: unknown, expected: unknown, path: string): string | undefined {
  return firstDifference(reconcileEffect(answer), reconcileEffect(expected), path);
}

interface Conversion {
  readonly xml?: string;
  readonly counts?: Readonly<Record<string, unknown>>;
}

/** Documents are compared as trees; only recorded counts are compared. */
function compareConversion(answer: Conversion, expected: Conversion): string | undefined {
  for (const [key, count] of Object.entries(expected.counts ?? {})) {
    const place = firstDifference(answer.counts?.[key], count, `/counts/${key}`);
    if (place) return place;
  }
  if (expected.xml === undefined) return undefined;
  return diffXmlTrees(readXmlTree(answer.xml ?? ""), readXmlTree(expected.xml))[0];
}

/** The XML for a destination is compared as a tree. */
function compareDestination(answer: unknown, expected: unknown): string | undefined {
  const [ours, theirs] = [answer, expected].map((one) => Reflect.get(Object(one), "destXML"));
  if (typeof ours !== "string" || typeof theirs !== "string") {
    return firstDifference(ours, theirs, "/destXML");
  }
  return diffXmlTrees(readXmlTree(ours), readXmlTree(theirs))[0];
}

function sameQuantity(path: string, a: unknown, b: unknown): boolean {
  if (!/\/(limits|requests)\/|\/quantity$|\/sizeLimit$/.test(path)) return false;
  if (typeof a !== "string" || typeof b !== "string") return false;
  return quantityFrom(a).equals(quantityFrom(b));
}

/** A number that does not fit into 64 bits is not compared: the recorded one is an overflow. */
const rangeOf: Readonly<Record<string, string>> = {
  value: "valueInRange",
  milliValue: "milliValueInRange",
  scaledValue: "inRange",
};

/** One or several passes of a node, without what is done besides launcher calls and writes. */
function withoutLocal(answer: unknown): unknown {
  const { passes } = Object(answer) as { readonly passes?: unknown };
  return Array.isArray(passes)
    ? { passes: passes.map((pass) => without(pass, ["local"])) }
    : without(answer, ["local"]);
}

function without(value: unknown, fields: readonly string[]): unknown {
  return Object.fromEntries(Object.entries(Object(value)).filter(([key]) => !fields.includes(key)));
}

function firstDifference(
  answer: unknown,
  expected: unknown,
  path: string,
  isSame: (path: string, answer: unknown, expected: unknown) => boolean = () => false,
): string | undefined {
  if (isDeepStrictEqual(answer, expected) || isSame(path, answer, expected)) return undefined;
  if (isContainer(answer) && isContainer(expected)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(answer)])) {
      const place = firstDifference(answer[key], expected[key], `${path}/${key}`, isSame);
      if (place) return place;
    }
    if (Array.isArray(answer) === Array.isArray(expected)) return undefined;
  }
  return `${path || "the answer"} is ${short(answer)}, not ${short(expected)}`;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function short(value: unknown): string {
  return (JSON.stringify(value) ?? "missing").slice(0, 120);
}
