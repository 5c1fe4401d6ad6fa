import type { ClusterConfig } from "@virtkit/api/config";
import { formatPath, type Path } from "@virtkit/api/schema";
import type { ManifestDocument, Position } from "@virtkit/node-agent/manifests";
import type { Checker, CheckerContext, Fault } from "./checker.ts";
import { checkers } from "./checkers.ts";
import { isForeign } from "./is-foreign.ts";
import { mendedObjects } from "./mended-objects.ts";

/** A fault and its place. */
export interface Finding extends Position {
  readonly source: string;
  readonly code: string;
  readonly message: string;
  /** The object, if the text was readable: `VirtualMachine/name`. */
  readonly object?: string;
  /** The field in the object. */
  readonly path?: string;
}

/** The result for the objects. */
export interface Validation {
  /** How many objects were checked. */
  readonly checked: number;
  /** How many were skipped: kinds of other API groups. */
  readonly skipped: number;
  readonly findings: readonly Finding[];
}

/** How to check objects. */
export interface ValidationOptions {
  /** Report unknown fields, and objects of other API groups. */
  readonly strict: boolean;
  /** Run only the schema checker. */
  readonly schemaOnly: boolean;
  readonly config: ClusterConfig;
  /** Default: every checker. */
  readonly checkers?: readonly Checker[];
  /** How an object with faults is fixed for the next checker. */
  readonly mend?: typeof mendedObjects;
}

/** Checks every object; those of other API groups are skipped unless strict. */
export async function validateDocuments(
  documents: readonly ManifestDocument[],
  { strict, schemaOnly, config, checkers: all = checkers, mend = mendedObjects }: ValidationOptions,
): Promise<Validation> {
  const context = { strict, config };
  const used = schemaOnly ? all.slice(0, 1) : all;
  const findings: Finding[] = [];
  let skipped = 0;
  for (const document of documents) {
    if (!strict && isForeign(document.value, config.names.group)) {
      skipped++;
      continue;
    }
    for (const fault of await allFaults(document.value, used, { ...context, mend })) {
      findings.push(locate(fault, document));
    }
  }
  return { checked: documents.length - skipped, skipped, findings };
}

/** How often an object is fixed: once for the schema, and for each checker that stops at a fault. */
const mostRounds = 8;

/**
 * All faults that can be known at once. After each checker the fields at fault are fixed in several ways, and
 * of the next one's findings only those count that remain however they are fixed.
 */
async function allFaults(
  object: unknown,
  used: readonly Checker[],
  { mend, ...context }: CheckerContext & { readonly mend: typeof mendedObjects },
): Promise<readonly Fault[]> {
  const { kind } = Object(object) as { kind?: string };
  const faults: Fault[] = [];
  let meant: Iterable<unknown> = [object];
  for (const { kinds, load } of used) {
    if (kinds && !kinds.includes(String(kind))) continue;
    const checker = await load();
    for (let round = 0; round < mostRounds; round++) {
      const found = inAll(meant, (each) => checker.check(each, context), faults);
      if (found.length === 0) break;
      faults.push(...found);
      const paths = faults.map(({ path }) => path);
      meant = { [Symbol.iterator]: () => mend(object, paths, context.config.names.group) };
      if (!found.some(({ last }) => last)) break;
    }
  }
  return faults;
}

/** The new faults that all of the objects have. */
function inAll(
  objects: Iterable<unknown>,
  check: (object: unknown) => readonly Fault[],
  known: readonly Fault[],
): readonly Fault[] {
  const isKnown = ({ path }: Fault): boolean => known.some((fault) => isWithin(path, fault.path));
  let common: readonly Fault[] | undefined;
  for (const object of objects) {
    const found = check(object);
    // A badly fixed object teaches nothing.
    if (found.some((fault) => fault.last && isKnown(fault))) continue;
    const messages = new Set(found.map(({ message }) => message));
    common = (common ?? found).filter((fault) => !isKnown(fault) && messages.has(fault.message));
    if (common.length === 0) break;
  }
  return common ?? [];
}

function isWithin(path: Path, outer: Path): boolean {
  return outer.every((step, index) => path[index] === step);
}

function locate({ code, path, message }: Fault, document: ManifestDocument): Finding {
  const { source, value } = document;
  const { kind, metadata } = Object(value) as Record<string, unknown>;
  const { name } = Object(metadata) as Record<string, unknown>;
  return {
    source,
    ...document.position(path),
    object: [kind, name].map((part) => short(part)).join("/"),
    path: formatPath(path),
    code,
    message,
  };
}

function short(part: unknown): string {
  return typeof part === "string" && part !== "" ? part.slice(0, 253) : "?";
}
