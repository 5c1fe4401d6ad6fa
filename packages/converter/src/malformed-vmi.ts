import {
  check,
  formatPath,
  type Issue,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
} from "@virtkit/api/schema";
import { ConverterError, isConverterError } from "./converter-error.ts";

/**
 * What to throw for an error in a conversion. Those that say themselves what is wrong stay as they
 * are; any other comes of a VMI that is not shaped like one, and the schema says where. The shape is
 * looked at only now, since checking it takes longer than converting.
 */
export function malformedVmi(cause: unknown, vmi: VirtualMachineInstance): unknown {
  if (isConverterError(cause)) return cause;
  const { name, code } = Object(cause) as { name?: unknown; code?: unknown };
  if (name === "ApiError" && code !== "API_OBJECT_MALFORMED") return cause;
  const [issue] = check(VirtualMachineInstanceSchema, vmi, { maxIssues: 1 }).issues;
  if (issue) return malformedAt(issue, cause);
  const message = "the VMI or its context cannot be read";
  return new ConverterError("CONVERTER_VMI_MALFORMED", message, { cause, path: "spec" });
}

/** The error for what a schema found; both begin with the field, which is named once. */
export function malformedAt({ path, message }: Issue, cause?: unknown): ConverterError {
  const field = formatPath(path);
  const found = message.startsWith(`${field} `) ? message.slice(field.length + 1) : message;
  return new ConverterError("CONVERTER_VMI_MALFORMED", found, { cause, path: field });
}
