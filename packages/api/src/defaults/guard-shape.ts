import { ApiError, isApiError } from "../api-error.ts";
import { check, formatPath, type SchemaNode } from "../schema/index.ts";

/**
 * Runs a step on an object that may never have been checked. The step reads it as its type says;
 * where it lies, the failure becomes an `ApiError` that names the field that the schema complains of
 * first. Well-formed objects pay nothing.
 */
export function guardShape<T>(schema: SchemaNode, object: unknown, step: () => T): T {
  try {
    return step();
  } catch (cause) {
    if (isApiError(cause)) throw cause;
    const [issue] = check(schema, object, { maxIssues: 1 }).issues;
    // The object is sound, so what failed is something else that the caller handed in.
    if (!issue) throw cause;
    const path = formatPath(issue.path);
    throw new ApiError("API_OBJECT_MALFORMED", issue.message, { path, cause });
  }
}
