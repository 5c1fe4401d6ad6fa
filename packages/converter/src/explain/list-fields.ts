import type { SchemaNode } from "@virtkit/api/schema";
import type { FieldSteps } from "./field-path.ts";
import type { FieldTrial } from "./field-trial.ts";
import { likelyValues, otherValues, schemaAt } from "./other-values.ts";
import type { Reads } from "./record-reads.ts";

/** An input whose fields are listed. */
export interface ListedInput {
  readonly name: string;
  readonly value: unknown;
  /** What a conversion reads of it; `undefined` for everything. */
  readonly reads: Reads | undefined;
  readonly schema: SchemaNode | undefined;
  /** Whether missing fields that are read are listed as well, if their shape is known. */
  readonly tryAbsent: boolean;
  /** Leaves out what is below a path. Default: nothing. */
  readonly isLeftOut?: (holder: object, path: FieldSteps) => boolean;
}

/** Deeper than any VMI: stops at a cyclic object. */
const maxDepth = 40;

/** The fields of an input that a conversion reads, the inner ones first, with what to try instead. */
export function* listFields(
  input: ListedInput,
  path: FieldSteps = [],
  value: unknown = input.value,
  reads: Reads | undefined = input.reads,
): Generator<FieldTrial> {
  if (path.length > maxDepth) return;
  const { name, schema } = input;
  if (isBranch(value)) {
    yield* presentFields(input, path, value, reads);
    if (input.tryAbsent) yield* absentFields(input, path, value, reads);
  }
  if (path.length === 0) return;
  const others = isBranch(value) ? [undefined] : otherValues(value, schemaAt(schema, path));
  yield { input: name, path, present: true, value, others };
}

function* presentFields(
  input: ListedInput,
  path: FieldSteps,
  holder: object,
  reads: Reads | undefined,
): Generator<FieldTrial> {
  const entries = Array.isArray(holder) ? [...holder.entries()] : Object.entries(holder);
  for (const [key, child] of entries) {
    const inner = reads?.get(String(key));
    if ((reads && !inner) || child === undefined || child === null) continue;
    const to = [...path, key];
    if (!input.isLeftOut?.(holder, to)) yield* listFields(input, to, child, inner);
  }
}

function* absentFields(
  { name, schema: root }: ListedInput,
  path: FieldSteps,
  holder: object,
  reads: Reads | undefined,
): Generator<FieldTrial> {
  const absent = { input: name, present: false, value: undefined };
  for (const key of reads?.keys() ?? []) {
    const child = (holder as Record<string, unknown>)[key] ?? undefined;
    if (child !== undefined) continue;
    const to = [...path, key];
    const schema = schemaAt(root, to);
    yield { ...absent, path: to, others: likelyValues(schema) };
    if (schema?.kind !== "object") continue;
    for (const [inner, field] of schema.fields) {
      if (field.schema.kind === "object") continue;
      yield { ...absent, path: [...to, inner], others: likelyValues(field.schema) };
    }
  }
}

function isBranch(value: unknown): value is object {
  return typeof value === "object" && value !== null && !isListOfScalars(value);
}

function isListOfScalars(value: object): boolean {
  return Array.isArray(value) && value.every((item) => typeof item !== "object" || item === null);
}
