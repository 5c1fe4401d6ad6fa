import { check, formatPath, type Issue, type Schema, type SchemaNode } from "../schema/index.ts";
import { withoutNulls } from "../without-nulls.ts";
import { type Cause, ownField, quote } from "./cause.ts";
import { withZeroValues, zeroField, zeroScalar } from "./zero-values.ts";

/** An object that can be judged, or why it cannot be. */
export type Decoded<T> =
  | { readonly ok: true; readonly object: T }
  | {
      readonly ok: false;
      readonly code: 400 | 422;
      readonly causes: readonly Cause[];
      readonly message: string;
    };

/**
 * Checks that an object of any shape has the shape of its kind. Unknown fields are refused, except in
 * the metadata, which the API server prunes, and in the status, which only KubeVirt writes.
 *
 * What the schema forbids is answered with 422 and causes without a reason; what cannot even be decoded into
 * the type (a number out of range, a malformed quantity) with 400, as in KubeVirt. With `readsFirst` a wrong
 * JSON type counts as undecodable, too, and such faults come before what the schema forbids: KubeVirt decodes
 * migrations before it checks them.
 */
export function decode<T>(
  schema: Schema<T>,
  value: unknown,
  { readsFirst = false }: { readsFirst?: boolean } = {},
): Decoded<T> {
  const given = withoutNulls(schema, value);
  const strict = check(schema, given, { strict: true });
  if (strict.valid) return { ok: true, object: strict.value };
  // Tolerated issues must not use up the number of issues that a check reports: check again without them.
  const filled = withZeroValues(schema, given, zeroScalar);
  const loose = check(schema, filled);
  const issues = [...loose.issues, ...unknownFields(schema, filled)];
  if (loose.valid && issues.length === 0) return { ok: true, object: loose.value };
  const refused = issues.filter(isOfSchema);
  const unreadable = readsFirst && issues.some(({ code }) => isOfReading.has(code));
  if (refused.length > 0 && !unreadable) {
    const causes = refused.map(({ path, message }) =>
      ownField({ message, field: formatPath(path) }),
    );
    return { ok: false, code: 422, causes, message: summary(causes) };
  }
  return { ok: false, code: 400, causes: [], message: summary(issues) };
}

const isOfReading: ReadonlySet<Issue["code"]> = new Set(["type", "range", "format"]);

/** Fields that the kind does not have, at the top and in the spec. */
function unknownFields(schema: SchemaNode, value: unknown): readonly Issue[] {
  if (schema.kind !== "object" || typeof value !== "object" || value === null) return [];
  const unknown = Object.keys(value).filter((key) => !schema.fields.has(key));
  const spec = schema.fields.get("spec")?.schema;
  const inSpec = spec
    ? check(spec, (value as { spec?: unknown }).spec, { strict: true }).issues
    : [];
  return [
    ...unknown.slice(0, 10).map((key) => ({
      code: "unknown-field" as const,
      path: [key],
      message: `${quote(key)} is not a known field`,
    })),
    ...inSpec
      .filter(({ code }) => code === "unknown-field")
      .map((issue) => ({
        ...issue,
        path: ["spec", ...issue.path],
        message: `spec.${issue.message}`,
      })),
  ];
}

/** Checks a stored object: its unknown fields no longer matter. */
export function decodeStored<T>(schema: Schema<T>, value: unknown): Decoded<T> {
  const result = check(schema, withZeroValues(schema, withoutNulls(schema, value), zeroField));
  if (result.valid) return { ok: true, object: result.value };
  return { ok: false, code: 400, causes: [], message: summary(result.issues) };
}

/** Whether the fault is one of shape; the others appear only when a string or number is read. */
function isOfSchema({ code, path }: Issue): boolean {
  return path[0] !== "metadata" && code !== "range" && code !== "format";
}

const mostListed = 10;

/** The messages in one string: the first ten, and how many more there are. */
export function summary(causes: readonly { readonly message: string }[]): string {
  const listed = causes
    .slice(0, mostListed)
    .map(({ message }) => message)
    .join("; ");
  const more = causes.length - mostListed;
  return more > 0 ? `${listed}; and ${more} more` : listed;
}
