import { isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml";

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

/** Reads one YAML document; never throws. */
export function yamlObject(text: string): YamlObject {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    schema: "core",
    lineCounter: lines,
    prettyErrors: false,
    logLevel: "silent",
  });
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line);
  // The first: what follows a fault is read wrongly, and faulty for that reason alone.
  const faults = [...document.errors, ...document.warnings].slice(0, 1);
  const problems = faults.map(({ message, pos }) => ({ line: lineAt(pos[0]), message }));
  return {
    value: problems.length > 0 ? undefined : (document.toJS({ maxAliasCount: 100 }) as unknown),
    problems,
    lineOf: (path) => lineAt(offsetOf(document.contents, path)),
  };
}

function offsetOf(root: unknown, path: readonly (string | number)[]): number {
  let node = root;
  let offset = startOf(node) ?? 0;
  for (const step of path) {
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
