import { type CheckOptions, type CheckResult, check } from "./check.ts";
import { describeValue, type Issue } from "./issue.ts";
import { type KnownObject, type SchemaForOptions, schemaFor } from "./object-kinds.ts";

/**
 * Checks an object against the schema that its `apiVersion` and `kind` name; otherwise like {@link check}. If
 * they name no known kind, that is the only issue.
 */
export function checkObject(
  value: unknown,
  { group, ...options }: CheckOptions & SchemaForOptions = {},
): CheckResult<KnownObject> {
  try {
    const schema = schemaFor(value, group === undefined ? {} : { group });
    if (schema) return check(schema, value, options);
    return { valid: false, value, issues: [unknownKind(value)] };
  } catch {
    const message = "(root) cannot be read: a property of the value throws when it is read";
    return { valid: false, value, issues: [{ code: "unreadable", path: [], message }] };
  }
}

function unknownKind(value: unknown): Issue {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const message = `(root) must be an object with apiVersion and kind; found ${describeValue(value)}`;
    return { code: "type", path: [], message };
  }
  const { apiVersion, kind } = value as { apiVersion?: unknown; kind?: unknown };
  const found = `apiVersion is ${describeValue(apiVersion)}, kind is ${describeValue(kind)}`;
  const message = `kind and apiVersion do not name a known object: ${found}`;
  return { code: "unknown-kind", path: ["kind"], message };
}
