import { guardShape, VirtualMachineInstanceSchema } from "@virtkit/api/schema";
import { isLauncherPodError, LauncherPodError } from "./launcher-pod-error.ts";

/** Runs a renderer on a VMI that may never have been checked; see `guardShape`. */
export function guardInput<T>(vmi: unknown, render: () => T): T {
  return guardShape(VirtualMachineInstanceSchema, vmi, render, {
    isOwn: isLauncherPodError,
    refuse: (problem, cause) => {
      const { message, ...where } = problem ?? {
        message: `no Pod can be made of the VMI: ${(cause as Error).message}`,
      };
      return new LauncherPodError("LAUNCHER_POD_VMI_INVALID", message, { ...where, cause });
    },
  });
}
