import { ApiError, isApiError } from "../api-error.ts";
import { guardShape, type SchemaNode } from "../schema/index.ts";

/** Like `guardShape` of the schemas, with an `ApiError`. */
export function guardObject<T>(schema: SchemaNode, object: unknown, step: () => T): T {
  return guardShape(schema, object, step, {
    isOwn: isApiError,
    refuse: (problem, cause) => {
      // The object is valid, so the failure is in another argument.
      if (!problem) return cause;
      const { path, message } = problem;
      return new ApiError("API_OBJECT_MALFORMED", message, { path, cause });
    },
  });
}
