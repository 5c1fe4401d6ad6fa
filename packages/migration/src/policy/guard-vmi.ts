import {
  guardShape,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
} from "@virtkit/api/schema";
import { isMigrationError, MigrationError } from "../migration-error.ts";

/** Runs a function on a VMI that may not have been validated; `at` is its position in a larger object. */
export function guardVmi<T>(vmi: VirtualMachineInstance, compute: () => T, at = ""): T {
  return guardShape(VirtualMachineInstanceSchema, vmi, compute, {
    isOwn: isMigrationError,
    refuse: (problem, cause) => {
      const path = [at, problem?.path ?? ""].filter(Boolean).join(".");
      const reason = problem?.message ?? `the VMI cannot be read: ${(cause as Error).message}`;
      const message = at ? `${at}: ${reason}` : reason;
      return new MigrationError("MIGRATION_INPUT_INVALID", message, { path, cause });
    },
  });
}
