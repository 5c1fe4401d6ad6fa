import {
  check,
  formatPath,
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
  const message = issue?.message ?? "the VMI or its context cannot be read";
  return new ConverterError("CONVERTER_VMI_MALFORMED", message, {
    cause,
    path: issue ? formatPath(issue.path) : "spec",
  });
}
