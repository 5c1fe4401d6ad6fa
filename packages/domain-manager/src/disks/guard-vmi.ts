import { guardShape, typeProblem, VirtualMachineInstanceSchema } from "@virtkit/api/schema";
import { DiskError } from "./disk-error.ts";

/** Runs a planner on an unchecked VMI. A wrong type is reported before a missing field. */
export function guardVmi<T>(vmi: unknown, plan: () => T): T {
  return guardShape(VirtualMachineInstanceSchema, vmi, plan, {
    isOwn: (cause) => !(cause instanceof TypeError),
    refuse: (missing) => {
      const { path } = typeProblem(VirtualMachineInstanceSchema, vmi) ??
        missing ?? { path: "spec" };
      // Neither the cause's message nor the schema's: they quote values, and a VMI may contain
      // secrets.
      const message = `${path}: has the wrong shape; validate the VMI against its schema first`;
      return new DiskError("DISK_VMI_INVALID", message, { path });
    },
  });
}
