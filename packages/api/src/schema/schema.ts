import type { Rules } from "./rules.ts";

/**
 * The description of a JSON value of type `T`: a small tree of plain data, cheap to build, from which
 * {@link check}, the CRDs and the zod schemas are derived.
 *
 * `T` is invariant: a schema that lacks a field of the interface, has an extra one, or disagrees about what is
 * optional does not compile.
 */
export type Schema<T> = SchemaNode & { readonly "~type"?: (value: T) => T };

/** The parts of a {@link Schema}. */
export type SchemaNode =
  | StringNode
  | BooleanNode
  | IntegerNode
  | FloatNode
  | QuantityNode
  | IntOrStringNode
  | ArrayNode
  | MapNode
  | ObjectNode
  | AnyObjectNode
  | NullableNode;

interface Ruled {
  readonly rules?: Rules;
}

/** A string, optionally with a format or with known values. */
export interface StringNode extends Ruled {
  readonly kind: "string";
  readonly format?: "date-time" | "duration";
  /** The values that have a meaning in v1.9.0. Reading accepts others; admission decides. */
  readonly known?: readonly string[];
}

/** `true` or `false`. */
export interface BooleanNode extends Ruled {
  readonly kind: "boolean";
}

/** A whole number. */
export interface IntegerNode extends Ruled {
  readonly kind: "integer";
  readonly format: IntegerFormat;
}

/** A number, perhaps with a fraction. */
export interface FloatNode extends Ruled {
  readonly kind: "float";
}

/** A quantity: `"2Gi"` or a whole number. */
export interface QuantityNode extends Ruled {
  readonly kind: "quantity";
}

/** A number or the name of one. */
export interface IntOrStringNode extends Ruled {
  readonly kind: "int-or-string";
}

/** A list; `listType` says how the API server merges two versions of it. */
export interface ArrayNode extends Ruled {
  readonly kind: "array";
  readonly items: SchemaNode;
  readonly listType?: "atomic" | "set" | "map";
  /** The fields that identify the items of a `map` list. */
  readonly listMapKeys?: readonly string[];
}

/** An object with arbitrary keys. */
export interface MapNode extends Ruled {
  readonly kind: "map";
  readonly values: SchemaNode;
}

/** An object with named fields. */
export interface ObjectNode extends Ruled {
  readonly kind: "object";
  readonly fields: ReadonlyMap<string, FieldNode>;
  /** The names of the required fields. */
  readonly required: readonly string[];
}

/** One field of an {@link ObjectNode}. */
export interface FieldNode {
  readonly schema: SchemaNode;
  readonly required: boolean;
}

/** An object with unknown content. */
export interface AnyObjectNode extends Ruled {
  readonly kind: "any-object";
}

/** A value for which `null` differs from absent. */
export interface NullableNode extends Ruled {
  readonly kind: "nullable";
  readonly inner: SchemaNode;
}

/** Width and sign of an integer. `int` and `uint` are Go's: 64 bits. */
export type IntegerFormat = "int" | "int32" | "int64" | "uint" | "uint8" | "uint32" | "uint64";

/** One of the known values, or any other string: enums stay open when reading. */
export type OpenEnum<Values extends readonly string[]> =
  | Values[number]
  | (string & Record<never, never>);

/** An object that has no fields yet. */
export type Empty = Record<string, never>;

/** An object with any content. */
export type JsonObject = Record<string, unknown>;

/** A required field; created by {@link required}. */
export interface RequiredField<T> {
  readonly required: Schema<T>;
}

/** The argument of {@link object}: every field of `T`, wrapped in {@link required} if `T` requires it. */
export type Shape<T> = {
  readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K>
    ? Schema<Exclude<T[K], undefined>>
    : RequiredField<T[K]>;
};

export const string: Schema<string> = { kind: "string" };
export const boolean: Schema<boolean> = { kind: "boolean" };
export const float: Schema<number> = { kind: "float" };
export const int: Schema<number> = { kind: "integer", format: "int" };
export const int32: Schema<number> = { kind: "integer", format: "int32" };
export const int64: Schema<number> = { kind: "integer", format: "int64" };
export const uint: Schema<number> = { kind: "integer", format: "uint" };
export const uint8: Schema<number> = { kind: "integer", format: "uint8" };
export const uint32: Schema<number> = { kind: "integer", format: "uint32" };
export const uint64: Schema<number> = { kind: "integer", format: "uint64" };

/** A string with some known values. */
export function openEnum<const Values extends readonly string[]>(
  known: Values,
): Schema<OpenEnum<Values>> {
  return { kind: "string", known };
}

/** A list of `items`. */
export function array<T>(
  items: Schema<T>,
  list: Pick<ArrayNode, "listType" | "listMapKeys"> = {},
): Schema<T[]> {
  return { kind: "array", items, ...list };
}

/** An object with arbitrary keys and values of one kind. */
export function map<T>(values: Schema<T>): Schema<Record<string, T>> {
  return { kind: "map", values };
}

/** An object with arbitrary content, which is kept but not checked. */
export function anyObject(): Schema<JsonObject> {
  return { kind: "any-object" };
}

/** A value that may be `null`, where `null` differs from absent. */
export function nullable<T>(inner: Schema<T>): Schema<T | null> {
  return { kind: "nullable", inner };
}

/** Marks a required field. */
export function required<T>(schema: Schema<T>): RequiredField<T> {
  return { required: schema };
}

/** Adds {@link Rules} to those of a schema. */
export function withRules<T>(schema: Schema<T>, rules: Rules): Schema<T> {
  return { ...schema, rules: { ...schema.rules, ...rules } };
}

/** An object with the fields of the interface `T`, which must be named as the type argument. */
export function object<T>(shape: Shape<T>, rules?: Rules): Schema<T> {
  const fields = new Map<string, FieldNode>();
  const requiredNames: string[] = [];
  // The mapped type is opaque while T is; by construction, every value is one or the other.
  const entries = Object.entries(shape) as [string, SchemaNode | { required: SchemaNode }][];
  for (const [name, field] of entries) {
    const isRequired = "required" in field && !("kind" in field);
    if (isRequired) requiredNames.push(name);
    fields.set(name, {
      schema: isRequired ? field.required : (field as SchemaNode),
      required: isRequired,
    });
  }
  return { kind: "object", fields, required: requiredNames, ...(rules && { rules }) };
}
