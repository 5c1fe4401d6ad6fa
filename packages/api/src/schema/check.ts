import { isObject } from "../shape.ts";
import { checkRules } from "./check-rules.ts";
import { isDuration } from "./duration.ts";
import { integerRanges } from "./integer-range.ts";
import { describeValue, formatPath, type Issue, type IssueCode, quote } from "./issue.ts";
import { isQuantityText } from "./quantity-input.ts";
import type {
  ArrayNode,
  FieldNode,
  IntegerNode,
  MapNode,
  ObjectNode,
  Schema,
  SchemaNode,
  StringNode,
} from "./schema.ts";
import { suggest } from "./suggest.ts";
import { isTime } from "./time.ts";

/** Options of {@link check}. */
export interface CheckOptions {
  /** Report every field that the schema does not have. Default: such fields are kept and ignored. */
  readonly strict?: boolean;
  /** Report what the API server would refuse by the CRD: bounds, lengths, patterns, closed enums. */
  readonly rules?: boolean;
  /** Stop after this many issues; a list of this length may be incomplete. Default 100. */
  readonly maxIssues?: number;
  /** Stop after this many values, so that shared references cannot multiply the work. Default 1,000,000. */
  readonly maxValues?: number;
}

/** What {@link check} found. `value` is the given object itself, unchanged. */
export type CheckResult<T> =
  | { readonly valid: true; readonly value: T; readonly issues: readonly [] }
  | { readonly valid: false; readonly value: unknown; readonly issues: readonly Issue[] };

/**
 * Checks a value against a schema, and returns it unchanged.
 *
 * Accepts any value: never throws, never changes or copies it, and looks no deeper than the schema. `null` in
 * an optional field counts as absent, as in the API server; in a list or map it is a fault. Strings with known
 * values may have others. A whole number passes if it fits the field's width; beyond 2^53 `JSON.parse` has
 * already rounded it.
 *
 * @example
 * ```ts
 * const result = check(VirtualMachineSchema, JSON.parse(manifest), { strict: true });
 * if (!result.valid) throw new Error(result.issues.map((issue) => issue.message).join("\n"));
 * result.value.spec.template.spec?.domain.devices.disks?.length;
 * ```
 */
export function check<T>(
  schema: Schema<T>,
  value: unknown,
  { strict = false, rules = false, maxIssues = 100, maxValues = 1_000_000 }: CheckOptions = {},
): CheckResult<T> {
  const run = new Run(strict, rules, maxIssues, maxValues);
  try {
    visit(schema, value, run);
  } catch {
    // Only a getter or a proxy can throw here; its error is not read, because that may throw again.
    run.report("unreadable", "cannot be read: a property of the value throws when it is read");
  }
  const { issues } = run;
  return issues.length === 0
    ? { valid: true, value: value as T, issues: [] }
    : { valid: false, value, issues };
}

/** One call of {@link check}. */
class Run {
  readonly issues: Issue[] = [];
  /** The present path: the first `depth` steps. Copied only for an issue. */
  readonly path: (string | number)[] = [];
  depth = 0;
  /** Whether the list of issues is full, so that there is no point in continuing. */
  full = false;
  readonly strict: boolean;
  readonly rules: boolean;
  #maxIssues: number;
  #valuesLeft: number;

  constructor(strict: boolean, rules: boolean, maxIssues: number, maxValues: number) {
    this.strict = strict;
    this.rules = rules;
    this.#maxIssues = Math.max(1, maxIssues);
    this.#valuesLeft = maxValues;
  }

  /** Adds an issue at the current path; `text` follows the path in the message. */
  report(code: IssueCode, text: string): void {
    if (this.full) return;
    const path = this.path.slice(0, this.depth);
    this.issues.push({ code, path, message: `${formatPath(path)} ${text}` });
    this.full = this.issues.length >= this.#maxIssues;
  }

  /** Counts the entries of a list or object before walking it; `false` once there are too many. */
  enter(entries: number): boolean {
    this.#valuesLeft -= entries;
    if (this.#valuesLeft >= 0) return true;
    this.report("too-large", "was not checked any further: the object has too many values");
    this.full = true;
    return false;
  }
}

function visit(node: SchemaNode, value: unknown, run: Run): void {
  if (isOfType(node, value, run) && run.rules && node.rules) {
    const broken = checkRules(node, node.rules, value);
    if (broken !== undefined) run.report("rule", broken);
  }
}

/** Reports what is wrong with the type of a value and of everything in it; `false` if its own type is wrong. */
function isOfType(node: SchemaNode, value: unknown, run: Run): boolean {
  switch (node.kind) {
    case "string":
      return typeof value === "string"
        ? hasFormat(node, value, run)
        : wrongType("a string", value, run);
    case "boolean":
      return typeof value === "boolean" || wrongType("true or false", value, run);
    case "integer":
      return isInteger(node, value, run);
    case "float":
      return Number.isFinite(value) || wrongType("a number", value, run);
    case "quantity":
      return isQuantity(value, run);
    case "int-or-string":
      return typeof value === "string" || isInteger(int32, value, run);
    case "array":
      return isArray(node, value, run);
    case "map":
      return isMap(node, value, run);
    case "object":
      return hasFields(node, value, run);
    case "any-object":
      return isObject(value) || wrongType("an object", value, run);
    case "nullable":
      return value === null || isOfType(node.inner, value, run);
  }
}

const int32: IntegerNode = { kind: "integer", format: "int32" };

function wrongType(expected: string, value: unknown, run: Run): false {
  run.report("type", `must be ${expected}; found ${describeValue(value)}`);
  return false;
}

function hasFormat({ format }: StringNode, value: string, run: Run): boolean {
  if (format === "date-time" && !isTime(value)) {
    run.report("format", `must be a time such as "2026-01-31T08:30:00Z"; found ${quote(value)}`);
    return false;
  }
  if (format === "duration" && !isDuration(value)) {
    run.report("format", `must be a duration such as "1h30m"; found ${quote(value)}`);
    return false;
  }
  return true;
}

function isInteger({ format }: IntegerNode, value: unknown, run: Run): boolean {
  if (!Number.isInteger(value)) return wrongType("a whole number", value, run);
  const { minimum, maximum } = integerRanges[format];
  if ((value as number) >= minimum && (value as number) <= maximum) return true;
  run.report("range", `must be from ${minimum} to ${maximum}; found ${value}`);
  return false;
}

function isQuantity(value: unknown, run: Run): boolean {
  if (Number.isInteger(value)) return true;
  if (typeof value === "string") {
    if (isQuantityText(value)) return true;
    run.report("format", `must be a quantity such as "2Gi" or "500m"; found ${quote(value)}`);
    return false;
  }
  const fraction = typeof value === "number" ? " (write a fraction as a string)" : "";
  return wrongType(`a quantity such as "2Gi"${fraction}`, value, run);
}

function isArray({ items }: ArrayNode, value: unknown, run: Run): boolean {
  if (!Array.isArray(value)) return wrongType("a list", value, run);
  if (!run.enter(value.length)) return false;
  const depth = run.depth++;
  for (let index = 0; index < value.length && !run.full; index++) {
    run.path[depth] = index;
    visit(items, value[index], run);
  }
  run.depth = depth;
  return true;
}

function isMap({ values }: MapNode, value: unknown, run: Run): boolean {
  if (!isObject(value)) return wrongType("an object", value, run);
  const keys = Object.keys(value);
  if (!run.enter(keys.length)) return false;
  const depth = run.depth++;
  for (const key of keys) {
    if (run.full) break;
    run.path[depth] = key;
    visit(values, value[key], run);
  }
  run.depth = depth;
  return true;
}

function hasFields(node: ObjectNode, value: unknown, run: Run): boolean {
  if (value === null && node.rules?.nullable) return true;
  if (!isObject(value)) return wrongType("an object", value, run);
  const keys = Object.keys(value);
  if (!run.enter(keys.length)) return false;
  const depth = run.depth++;
  let found = 0;
  for (const key of keys) {
    if (run.full) break;
    const field = node.fields.get(key);
    run.path[depth] = key;
    if (field) found += visitField(field, value[key], run);
    else if (run.strict) unknownField(node, key, run);
  }
  run.depth = depth;
  if (found < node.required.length) missingFields(node, value, run);
  return true;
}

/** Visits the value of a field; returns 1 if it counts as a present required field. */
function visitField({ schema, required }: FieldNode, value: unknown, run: Run): 0 | 1 {
  if (value === undefined || (value === null && schema.kind !== "nullable")) return 0;
  visit(schema, value, run);
  return required ? 1 : 0;
}

function unknownField({ fields }: ObjectNode, key: string, run: Run): void {
  const near = suggest(key, fields.keys());
  run.report(
    "unknown-field",
    `is not a known field${near ? `; did you mean ${quote(near)}?` : ""}`,
  );
}

function missingFields(node: ObjectNode, value: Record<string, unknown>, run: Run): void {
  for (const name of node.required) {
    if (Object.hasOwn(value, name) && value[name] !== null && value[name] !== undefined) continue;
    run.path[run.depth++] = name;
    run.report("required", `must be set${Object.hasOwn(value, name) ? "; found null" : ""}`);
    run.depth--;
  }
}
