import {
  type ShapeProblem,
  shapeProblem,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
} from "@virtkit/api/schema";
import { ConverterError, isConverterError } from "./converter-error.ts";

/**
 * The error to throw for a failed conversion. Errors that say what is wrong are kept; any other comes from a
 * VMI of the wrong shape, and the schema says where. The shape is checked only now, because that takes longer
 * than converting.
 */
export function malformedVmi(cause: unknown, vmi: VirtualMachineInstance): unknown {
  if (isConverterError(cause)) return cause;
  const { name, code } = Object(cause) as { name?: unknown; code?: unknown };
  if (name === "ApiError" && code !== "API_OBJECT_MALFORMED") return cause;
  const problem = shapeProblem(VirtualMachineInstanceSchema, vmi);
  if (problem) return malformedAt(problem, cause);
  const message = "the VMI or its context cannot be read";
  return new ConverterError("CONVERTER_VMI_MALFORMED", message, { cause, path: "spec" });
}

/** The error for a schema issue; both begin with the field, which is named once. */
export function malformedAt({ path, message }: ShapeProblem, cause?: unknown): ConverterError {
  const found = message.startsWith(`${path} `) ? message.slice(path.length + 1) : message;
  return new ConverterError("CONVERTER_VMI_MALFORMED", found, { cause, path });
}
