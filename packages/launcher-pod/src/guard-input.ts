import { guardShape, VirtualMachineInstanceSchema } from "@virtkit/api/schema";
import { isLauncherPodError, LauncherPodError } from "./launcher-pod-error.ts";

/** Runs a renderer on a VMI that may not have been checked; see `guardShape`. */
export function guardInput<T>(vmi: unknown, render: () => T): T {
  return guardShape(VirtualMachineInstanceSchema, vmi, render, {
    isOwn: isLauncherPodError,
    refuse: (problem, cause) => {
      const { message, ...where } = problem ?? {
        message: `the VMI cannot be rendered as a Pod: ${(cause as Error).message}`,
      };
      return new LauncherPodError("LAUNCHER_POD_VMI_INVALID", message, { ...where, cause });
    },
  });
}
