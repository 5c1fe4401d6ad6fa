import { shapeProblem, VirtualMachineInstanceSchema } from "@virtkit/api/schema";
import { InputError } from "./input-fields.ts";

/**
 * Runs a function on VMIs of a request, which were never checked; `vmis` has them by their place.
 * Where the function fails over one that is none, the error names the first field of which the schema
 * complains. A failure over VMIs that are in order is a fault of ours and stays what it is.
 */
export function guardVmis<T>(vmis: Readonly<Record<string, unknown>>, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    if (typeof (Object(cause) as { code?: unknown }).code === "string") throw cause;
    for (const [at, vmi] of Object.entries(vmis)) {
      const problem = shapeProblem(VirtualMachineInstanceSchema, vmi);
      if (!problem) continue;
      const path = problem.path === "(root)" ? at : `${at}.${problem.path}`;
      throw new InputError(path, `has not the shape of a VMI: ${problem.message}`, { cause });
    }
    throw cause;
  }
}
