import { isObject } from "@virtkit/api/shape";
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
} from "yaml";
import {
  defaultValueLimits,
  type PlainValue,
  plainValue,
  type ValueLimits,
} from "./plain-value.ts";

/** A position in text; both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One object of a manifest. */
export interface ManifestDocument {
  /** Name of the file, or `-` for stdin. */
  readonly source: string;
  /** The object as plain JSON; nothing is known about its shape. */
  readonly value: unknown;
  /** The position of a field, or of its nearest existing ancestor. */
  position(path: readonly (string | number)[]): Position;
}

/** Something in a manifest that could not be read. */
export interface ManifestProblem extends Position {
  readonly source: string;
  readonly message: string;
}

/** What the manifests contained. A document with a problem is not among the documents. */
export interface Manifests {
  readonly documents: readonly ManifestDocument[];
  readonly problems: readonly ManifestProblem[];
}

/** Bounds on a manifest; what exceeds them is a problem, never a wait. */
export interface ManifestLimits extends ValueLimits {
  /** Largest file in bytes. */
  readonly maxBytes: number;
  /** Most documents in a file. */
  readonly maxDocuments: number;
  /** Maximum number of problems reported for a file. */
  readonly maxProblems: number;
}

/** The default limits. */
export const defaultLimits: ManifestLimits = {
  maxBytes: 4 * 1024 * 1024,
  maxDocuments: 10_000,
  maxProblems: 100,
  ...defaultValueLimits,
};

/**
 * Parses the documents in a string; a string without any is a problem. Accepts any string: never throws, and `limits`
 * bound the result.
 */
export function parseManifests(
  text: string,
  source: string,
  limits: Partial<ManifestLimits> = {},
): Manifests {
  const bounds = { ...defaultLimits, ...limits };
  const lines = new LineCounter();
  const problems: ManifestProblem[] = [];
  const report = (offset: number, message: string): void => {
    if (problems.length < bounds.maxProblems) {
      problems.push({ source, ...positionAt(lines, offset), message: shorten(message) });
    }
  };
  const parsed = parseYaml(text, lines, report);
  if (parsed.length > bounds.maxDocuments) {
    report(0, `there are more than ${bounds.maxDocuments} documents; the rest was not read`);
  }
  const documents = parsed
    .slice(0, bounds.maxDocuments)
    .flatMap((document) => readDocument(document, { source, lines, bounds, report }));
  if (parsed.every(isEmpty)) report(0, "it contains no object");
  return { documents, problems };
}

function isEmpty({ contents, errors }: Document): boolean {
  const nothing = contents === null || (isScalar(contents) && contents.value === null);
  return nothing && errors.length === 0;
}

/** Messages of the parser can quote the whole text. */
function shorten(message: string): string {
  return message.length > 300 ? `${message.slice(0, 300)}...` : message;
}

interface Reading {
  readonly source: string;
  readonly lines: LineCounter;
  readonly bounds: ManifestLimits;
  report(offset: number, message: string): void;
}

function parseYaml(
  text: string,
  lineCounter: LineCounter,
  report: Reading["report"],
): readonly Document[] {
  // The parser creates an Error for each fault. Their stacks would cost most of the time, and a hostile text can
  // have one fault per byte.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return parseAllDocuments(text, {
      schema: "core",
      lineCounter,
      prettyErrors: false,
      logLevel: "silent",
      // Its own check is quadratic in the number of keys; plainValue has another one.
      uniqueKeys: false,
    }) as Document[];
  } catch (error) {
    report(0, `the text cannot be read: ${(error as Error).message}`);
    return [];
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function readDocument(document: Document, reading: Reading): ManifestDocument[] {
  const { bounds, report } = reading;
  // Warnings are about tags outside of the core schema: their values would be misread.
  const faults = [...document.errors, ...document.warnings];
  const tooDeep = faults.find(({ message }) => message.startsWith("Maximum call stack"));
  if (tooDeep) {
    // The parser gave up there: its other findings only follow from that.
    report(tooDeep.pos[0], "nested too deeply to read");
    return [];
  }
  let sound = faults.length === 0;
  for (const { message, pos } of faults.slice(0, bounds.maxProblems)) report(pos[0], message);
  if (!sound) return [];
  const { value, targets } = plainValue(document, bounds, ({ offset, message }) => {
    sound = false;
    report(offset, message);
  });
  if (!sound || value === null) return [];
  const { source, lines } = reading;
  const position = (path: readonly (string | number)[]): Position =>
    positionAt(lines, offsetOf(document.contents, targets, path));
  return expandList({ source, value, position });
}

/** The items of a list, and of nested lists; the limit on depth bounds them. */
function expandList(document: ManifestDocument): ManifestDocument[] {
  const { value } = document;
  if (Array.isArray(value)) return itemsOf(document, value, []).flatMap(expandList);
  const { apiVersion, kind, items } = Object(value) as Record<string, unknown>;
  const isList = typeof kind === "string" && kind.endsWith("List") && Array.isArray(items);
  if (typeof apiVersion !== "string" || !isList) return [document];
  // The API server leaves out what the list already says.
  const implied = kind === "List" ? {} : { apiVersion, kind: kind.slice(0, -"List".length) };
  return itemsOf(document, items, ["items"]).flatMap((item) =>
    expandList({ ...item, value: withDefaults(item.value, implied) }),
  );
}

function itemsOf(
  { source, position }: ManifestDocument,
  items: readonly unknown[],
  at: readonly string[],
): ManifestDocument[] {
  return items.map((value, index) => ({
    source,
    value,
    position: (path) => position([...at, index, ...path]),
  }));
}

function withDefaults(value: unknown, implied: object): unknown {
  return isObject(value) ? { ...implied, ...value } : value;
}

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

/** Where a path leads: the key of a field, the item of a list, or the last one on the way. */
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
