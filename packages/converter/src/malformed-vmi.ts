import {
  type ShapeProblem,
  shapeProblem,
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
  const problem = shapeProblem(VirtualMachineInstanceSchema, vmi);
  if (problem) return malformedAt(problem, cause);
  const message = "the VMI or its context cannot be read";
  return new ConverterError("CONVERTER_VMI_MALFORMED", message, { cause, path: "spec" });
}

/** The error for what a schema found; both begin with the field, which is named once. */
export function malformedAt({ path, message }: ShapeProblem, cause?: unknown): ConverterError {
  const found = message.startsWith(`${path} `) ? message.slice(path.length + 1) : message;
  return new ConverterError("CONVERTER_VMI_MALFORMED", found, { cause, path });
}
