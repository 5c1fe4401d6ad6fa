import * as z from "zod";
import {
  type IntegerFormat,
  isDuration,
  isQuantityText,
  isTime,
  type Schema,
  type SchemaNode,
} from "../schema/index.ts";
import { integerRanges } from "../schema/integer-range.ts";

/** Options of {@link zodSchema}. */
export interface ZodSchemaOptions {
  /** Refuse unknown fields. Default: they are kept. */
  readonly strict?: boolean;
}

const built = { strict: new WeakMap<object, z.ZodType>(), loose: new WeakMap<object, z.ZodType>() };

/**
 * The zod 4 schema of a {@link Schema}, for forms, routers and the like. Accepts and refuses the same values as
 * `check`, except for a key `__proto__` in a map, which zod ignores. Built once for each schema and mode, on
 * first use.
 *
 * As always with zod, parsing returns a copy with the known fields first; `check` from `@virtkit/api/schema`
 * returns the object itself, loads in a fraction of the time and is several times faster. Fields set to `null`
 * stay `null` in the copy, although the type of an optional field does not allow that: the API server reads
 * them as absent.
 *
 * @example
 * ```ts
 * const result = zodSchema(VirtualMachineSchema, { strict: true }).safeParse(body);
 * ```
 */
export function zodSchema<T>(
  schema: Schema<T>,
  { strict = false }: ZodSchemaOptions = {},
): z.ZodType<T> {
  return build(schema, strict) as z.ZodType<T>;
}

function build(node: SchemaNode, strict: boolean): z.ZodType {
  const cache = strict ? built.strict : built.loose;
  const known = cache.get(node);
  if (known) return known;
  const made = make(node, strict);
  cache.set(node, made);
  return made;
}

function make(node: SchemaNode, strict: boolean): z.ZodType {
  switch (node.kind) {
    case "string":
      return text(node.format);
    case "boolean":
      return z.boolean();
    case "integer":
      return integer(node.format);
    case "float":
      return z.number();
    case "quantity":
      return z.union([z.string().refine(isQuantityText, "not a quantity"), wholeNumber]);
    case "int-or-string":
      return z.union([z.string(), integer("int32")]);
    case "array":
      return z.array(build(node.items, strict));
    case "map":
      return z.record(z.string(), build(node.values, strict));
    case "any-object":
      return z.record(z.string(), z.unknown());
    case "nullable":
      return build(node.inner, strict).nullable();
    case "object":
      return object(node, strict);
  }
}

function text(format: "date-time" | "duration" | undefined): z.ZodType {
  if (format === "date-time") return z.string().refine(isTime, "not a time");
  if (format === "duration") return z.string().refine(isDuration, "not a duration");
  return z.string();
}

// zod's own integers end at 2^53, but the API has 64-bit fields whose values are rounded when read.
const wholeNumber = z.number().refine(Number.isInteger, "not a whole number");

function integer(format: IntegerFormat): z.ZodType {
  const { minimum, maximum } = integerRanges[format];
  return wholeNumber.min(minimum).max(maximum);
}

function object(node: SchemaNode & { kind: "object" }, strict: boolean): z.ZodType {
  const shape: Record<string, z.ZodType> = {};
  for (const [name, { schema, required }] of node.fields) {
    const field = build(schema, strict);
    shape[name] = required ? field : field.nullish();
  }
  const made = strict ? z.strictObject(shape) : z.looseObject(shape);
  return node.rules?.nullable ? made.nullable() : made;
}
