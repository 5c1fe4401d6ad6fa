import type { StatusCause } from "@virtkit/kube";
import { isJsonObject, type JsonObject, sameJson } from "./json.ts";

/** The part of OpenAPI that a CustomResourceDefinition may use and that a server acts on. */
export interface StructuralSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: boolean | StructuralSchema;
  readonly items?: StructuralSchema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
}

/** The value without the fields that the schema does not know. */
export function prune(schema: StructuralSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.map((item) => prune(items, item)) : value;
  }
  if (!isJsonObject(value)) return value;
  const { properties = {}, additionalProperties } = schema;
  const keepsUnknown = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const embedded = schema["x-kubernetes-embedded-resource"] === true;
  const kept: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const known = properties[key];
    if (known) kept[key] = prune(known, item);
    else if (typeof additionalProperties === "object")
      kept[key] = prune(additionalProperties, item);
    else if (additionalProperties === true || keepsUnknown) kept[key] = item;
    else if (embedded && ["apiVersion", "kind", "metadata"].includes(key)) kept[key] = item;
  }
  return kept;
}

/** The value with the schema's defaults for what it leaves out; a null that may not be is left out as well. */
export function withDefaults(schema: StructuralSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.map((item) => withDefaults(items, item)) : value;
  }
  if (!isJsonObject(value)) return value;
  const { properties = {}, additionalProperties } = schema;
  const others = typeof additionalProperties === "object" ? additionalProperties : undefined;
  const filled: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const known = properties[key] ?? others;
    filled[key] = known ? withDefaults(known, item) : item;
  }
  for (const [key, known] of Object.entries(properties)) {
    const item = filled[key];
    const missing = item === undefined || (item === null && !known.nullable);
    if (missing && known.default !== undefined) filled[key] = withDefaults(known, known.default);
  }
  return filled;
}

/** What is wrong with a value by the schema. */
export function schemaProblems(schema: StructuralSchema, value: unknown, at = ""): StatusCause[] {
  if (value === null && schema.nullable) return [];
  const wrong = wrongType(schema, value);
  if (wrong) return [problem("FieldValueTypeInvalid", at, wrong)];
  const problems = boundProblems(schema, value, at);
  const { items } = schema;
  if (Array.isArray(value) && items) {
    problems.push(
      ...value.flatMap((item, index) => schemaProblems(items, item, `${at}[${index}]`)),
    );
  }
  return isJsonObject(value) ? [...problems, ...fieldProblems(schema, value, at)] : problems;
}

/** What is wrong with the fields of an object. */
function fieldProblems(schema: StructuralSchema, value: JsonObject, at: string): StatusCause[] {
  const { required = [], properties = {}, additionalProperties } = schema;
  const others = typeof additionalProperties === "object" ? additionalProperties : undefined;
  const under = (key: string) => (at === "" ? key : `${at}.${key}`);
  const missing = required
    .filter((key) => value[key] === undefined)
    .map((key) => problem("FieldValueRequired", under(key), "Required value"));
  const wrong = Object.entries(value).flatMap(([key, item]) => {
    const known = properties[key] ?? others;
    return known && item !== undefined ? schemaProblems(known, item, under(key)) : [];
  });
  return [...missing, ...wrong];
}

function wrongType(schema: StructuralSchema, value: unknown): string | undefined {
  if (schema["x-kubernetes-int-or-string"]) {
    const fits = typeof value === "string" || Number.isInteger(value);
    return fits ? undefined : "must be an integer or a string";
  }
  const { type } = schema;
  if (type === undefined) return undefined;
  const found = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  if (type === "integer")
    return Number.isInteger(value) ? undefined : `must be of type integer: ${found}`;
  return found === type ? undefined : `must be of type ${type}: ${JSON.stringify(found)}`;
}

function boundProblems(schema: StructuralSchema, value: unknown, at: string): StatusCause[] {
  const problems = brokenBounds(schema, value).map((text) =>
    problem("FieldValueInvalid", at, text),
  );
  if (schema.enum && !schema.enum.some((each) => sameJson(each, value))) {
    problems.push(problem("FieldValueNotSupported", at, "Unsupported value"));
  }
  return problems;
}

function brokenBounds(schema: StructuralSchema, value: unknown): string[] {
  if (typeof value === "string") {
    const { pattern, minLength, maxLength } = schema;
    const range = outside(value.length, minLength, maxLength, "characters");
    const matches = pattern === undefined || new RegExp(pattern, "u").test(value);
    return matches ? range : [...range, `should match '${pattern}'`];
  }
  if (typeof value === "number") return outside(value, schema.minimum, schema.maximum, "");
  if (Array.isArray(value)) return outside(value.length, schema.minItems, schema.maxItems, "items");
  return [];
}

/** What a size or a number breaks of its bounds. */
function outside(
  value: number,
  least: number | undefined,
  most: number | undefined,
  unit: string,
): string[] {
  const low = least !== undefined && value < least ? [`must be at least ${least} ${unit}`] : [];
  const high = most !== undefined && value > most ? [`must be at most ${most} ${unit}`] : [];
  return [...low, ...high].map((text) => text.trim());
}

function problem(reason: string, field: string, message: string): StatusCause {
  return { reason, field, message };
}
