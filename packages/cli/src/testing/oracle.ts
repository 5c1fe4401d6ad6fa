import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { BatchArea } from "../batch/batch-area.ts";
import { batchAreas } from "../batch/batch-functions.ts";

/** A question and what KubeVirt's own code answered to it. */
export interface OracleCase {
  readonly name: string;
  readonly area: string;
  readonly fn: string;
  readonly input: unknown;
  readonly context: unknown;
  readonly expected: unknown;
}

/** Why a test that compares with recorded answers is skipped. */
export const withoutOracle = "VIRTKIT_ORACLE_DIR does not hold KubeVirt's recorded answers";

/**
 * The recorded cases of an area, or undefined where this machine has none; tests then
 * call `skip(!cases, withoutOracle)`. A folder without a case is an error: a test that compares
 * nothing must not pass.
 */
export function oracleCases(area: string): readonly OracleCase[] | undefined {
  const root = process.env["VIRTKIT_ORACLE_DIR"];
  const folder = root && join(root, area, "public");
  if (!folder || !existsSync(folder)) {
    return undefined;
  }
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  if (files.length === 0) throw new Error(`${folder} holds no recorded case`);
  return files
    .sort()
    .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as OracleCase);
}

/** Answers a case as `virtkit batch` would; a function that throws answers `{ thrown }`. */
export async function answerCase({ area, fn, input, context }: OracleCase): Promise<unknown> {
  const { functions } = await (batchAreas[area] as BatchArea).load();
  try {
    const answer = await functions[fn]?.(input, context);
    return JSON.parse(JSON.stringify(answer ?? null));
  } catch (error) {
    return { thrown: String(error) };
  }
}

/** Texts for people: `message`, `error`, `searchOptionError` and the like. */
const wordsKey = /^(error|message)$|(Error|Message)$/;

/**
 * An answer as it is compared: without the words of messages. Codes, reasons, fields and values are facts
 * and stay; how something is said to people is up to whoever says it, so only that something is said counts.
 * An event (`Warning FailedCreate the VM ...`) keeps its type and its reason. A text of the request that is
 * passed on, as the message of a condition, is a value.
 */
export function withoutWords(answer: unknown, { input, context }: OracleCase): unknown {
  const given = new Set<unknown>();
  const remember = (_: string, value: unknown): unknown => given.add(value) && value;
  JSON.stringify([input, context], remember);
  const without = (key: string, value: unknown): unknown => {
    if (key === "events" && Array.isArray(value)) return value.map(eventWithoutWords);
    const isOwn = typeof value === "string" && value !== "" && !given.has(value);
    return isOwn && wordsKey.test(key) ? "(words)" : value;
  };
  return JSON.parse(JSON.stringify(answer ?? null, without));
}

function eventWithoutWords(event: unknown): unknown {
  return typeof event === "string" ? event.replace(/^(\S+ \S+) .+$/s, "$1 (words)") : event;
}

/**
 * One line for each case whose answer differs: its name, and the first place that does. Words are not
 * compared, see {@link withoutWords}. Where KubeVirt crashed (`{ panic: true }`), any failure is the right answer.
 */
export async function differingCases(cases: readonly OracleCase[]): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const recorded of cases) {
    const answer = await answerCase(recorded);
    if (isDeepStrictEqual(recorded.expected, { panic: true }) && hasThrown(answer)) continue;
    const expected = withoutWords(recorded.expected, recorded);
    const place = firstDifference(withoutWords(answer, recorded), expected, "");
    if (place) lines.push(`${recorded.fn} ${recorded.name}: ${place}`);
  }
  return lines;
}

function hasThrown(answer: unknown): boolean {
  return typeof answer === "object" && answer !== null && "thrown" in answer;
}

function firstDifference(answer: unknown, expected: unknown, path: string): string | undefined {
  if (isDeepStrictEqual(answer, expected)) return undefined;
  if (!isContainer(answer) || !isContainer(expected)) {
    return `${path || "the answer"} is ${short(answer)}, not ${short(expected)}`;
  }
  for (const key of new Set([...Object.keys(expected), ...Object.keys(answer)])) {
    const place = firstDifference(answer[key], expected[key], `${path}/${key}`);
    if (place) return place;
  }
  return `${path || "the answer"} is ${short(answer)}, not ${short(expected)}`;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function short(value: unknown): string {
  return (JSON.stringify(value) ?? "missing").slice(0, 120);
}
