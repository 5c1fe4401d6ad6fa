import { type CheckResult, check, type Issue, type Schema } from "../schema/index.ts";
import { withoutNulls } from "../without-nulls.ts";
import type { Cause } from "./cause.ts";
import { withZeroValues } from "./zero-values.ts";

/** An object that can be judged, or why it cannot. */
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
 * What the schema forbids is answered with 422 and causes without a field, what could not even be
 * read into the type (a number out of range, a malformed quantity) with 400, as in KubeVirt. With
 * `readsFirst` a wrong JSON type is such a thing too: KubeVirt reads migrations before it checks them.
 */
export function decode<T>(
  schema: Schema<T>,
  value: unknown,
  { readsFirst = false }: { readsFirst?: boolean } = {},
): Decoded<T> {
  const result = checkFilled(schema, value);
  if (result.valid) return { ok: true, object: withoutNulls(result.value) };
  const issues = result.issues.filter((issue) => !isTolerated(issue));
  if (issues.length === 0) return { ok: true, object: withoutNulls(result.value as T) };
  const refused = issues.filter(isOfSchema);
  const unreadable = readsFirst && issues.some(({ code }) => code === "type");
  if (refused.length > 0 && !unreadable) {
    const causes = refused.map(({ message }) => ({ message }));
    return { ok: false, code: 422, causes, message: summary(causes) };
  }
  return { ok: false, code: 400, causes: [], message: summary(issues) };
}

/** Checks an object; if required fields are missing, once more with those that may be. */
function checkFilled<T>(schema: Schema<T>, value: unknown): CheckResult<T> {
  const result = check(schema, value, { strict: true });
  if (result.valid || !result.issues.some(({ code }) => code === "required")) return result;
  return check(schema, withZeroValues(schema, value), { strict: true });
}

/** Checks an object that is stored already: what it has too much does not matter any more. */
export function decodeStored<T>(schema: Schema<T>, value: unknown): Decoded<T> {
  const result = check(schema, withZeroValues(schema, value));
  if (result.valid) return { ok: true, object: withoutNulls(result.value) };
  return { ok: false, code: 400, causes: [], message: summary(result.issues) };
}

function isTolerated({ code, path }: Issue): boolean {
  return code === "unknown-field" && (path[0] === "metadata" || path[0] === "status");
}

/** Whether the fault is one of shape; the others appear only when a text or number is read. */
function isOfSchema({ code, path }: Issue): boolean {
  return path[0] !== "metadata" && code !== "range" && code !== "format";
}

const mostListed = 10;

/** The messages in one text: the first ten, and how many more there are. */
export function summary(causes: readonly { readonly message: string }[]): string {
  const listed = causes
    .slice(0, mostListed)
    .map(({ message }) => message)
    .join("; ");
  const more = causes.length - mostListed;
  return more > 0 ? `${listed}; and ${more} more` : listed;
}
