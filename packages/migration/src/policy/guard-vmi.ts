import {
  check,
  formatPath,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
} from "@virtkit/api/schema";
import { isMigrationError, MigrationError } from "../migration-error.ts";

/**
 * Runs a function on a VMI that may never have been checked. Where it has not the shape that its
 * type says, the failure becomes an error that names the field of which the schema complains first.
 * `at` is where the VMI is in a larger object. Well-formed input pays nothing.
 */
export function guardVmi<T>(vmi: VirtualMachineInstance, compute: () => T, at = ""): T {
  try {
    return compute();
  } catch (cause) {
    if (isMigrationError(cause)) throw cause;
    const [issue] = check(VirtualMachineInstanceSchema, vmi, { maxIssues: 1 }).issues;
    const path = [at, issue ? formatPath(issue.path) : ""].filter(Boolean).join(".");
    const reason = issue?.message ?? `the VMI cannot be read: ${(cause as Error).message}`;
    const message = at ? `${at}: ${reason}` : reason;
    throw new MigrationError("MIGRATION_INPUT_INVALID", message, { path, cause });
  }
}
