import { shapeProblem, VirtualMachineInstanceSchema } from "@virtkit/api/schema";
import { InputError } from "./input-fields.ts";

/**
 * Runs a function on VMIs of a request, which were never checked; `vmis` has them by place. If the function
 * fails on an invalid one, the error names the first field that the schema rejects. A failure on valid VMIs is
 * our fault and is passed on.
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
      throw new InputError(path, `is not a VMI: ${problem.message}`, { cause });
    }
    throw cause;
  }
}
