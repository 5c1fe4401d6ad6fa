import { defaultValueLimits, type PlainValue, plainValue } from "@virtkit/cli/plain-value";
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml";

/** Something wrong at a line, counted from 1. */
export interface Problem {
  readonly line: number;
  readonly message: string;
}

/** A YAML text as an object that knows where its fields stand. */
export interface YamlObject {
  readonly value: unknown;
  /** The text itself cannot be read. */
  readonly problems: readonly Problem[];
  /** The line of a field, or of the nearest thing around it that is there. */
  lineOf(path: readonly (string | number)[]): number;
}

/** Reads one YAML document, as the command line reads it: an alias counts as often as it is used. Never throws. */
export function yamlObject(text: string): YamlObject {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    schema: "core",
    lineCounter: lines,
    prettyErrors: false,
    logLevel: "silent",
    // plainValue looks for keys that are there twice; this one takes a time that is quadratic.
    uniqueKeys: false,
  });
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line);
  // The first: what follows a fault is read wrongly, and faulty for that reason alone.
  const faults = [...document.errors, ...document.warnings].slice(0, 1);
  const problems = faults.map(({ message, pos }) => ({ line: lineAt(pos[0]), message }));
  if (problems.length > 0) return { value: undefined, problems, lineOf: () => 1 };
  const { value, targets } = plainValue(document, defaultValueLimits, ({ offset, message }) => {
    if (problems.length < mostProblems) problems.push({ line: lineAt(offset), message });
  });
  return {
    value: problems.length > 0 ? undefined : value,
    problems,
    lineOf: (path) => lineAt(offsetOf(document.contents, targets, path)),
  };
}

/** More are of no use to anybody, and a hostile text has one at every character. */
const mostProblems = 100;

function offsetOf(
  root: unknown,
  targets: PlainValue["targets"],
  path: readonly (string | number)[],
): number {
  let node = root;
  let offset = startOf(node) ?? 0;
  for (const step of path) {
    if (isAlias(node)) node = targets.get(node);
    const [at, next] = stepInto(node, step);
    if (at === undefined) break;
    offset = startOf(at) ?? offset;
    node = next;
  }
  return offset;
}

function stepInto(node: unknown, step: string | number): [at: unknown, next: unknown] {
  if (isSeq(node)) {
    const item = node.items[Number(step)];
    return [item, item];
  }
  const pair = isMap(node)
    ? node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
    : undefined;
  return [pair?.key, pair?.value];
}

function startOf(node: unknown): number | undefined {
  return (Object(node) as { range?: readonly number[] | null }).range?.[0];
}
