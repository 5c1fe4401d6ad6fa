import { check, formatPath, VirtualMachineInstanceSchema } from "@virtkit/api/schema";
import { isLauncherPodError, LauncherPodError } from "./launcher-pod-error.ts";

/**
 * Runs a renderer on a VMI that may never have been checked. Steps read it as its type says; where
 * it lies (a list that is text, a `null` among volumes) the failure becomes an error that names the
 * field that the schema complains of first. Well-formed input pays nothing.
 */
export function guardInput<T>(vmi: unknown, render: () => T): T {
  try {
    return render();
  } catch (cause) {
    if (isLauncherPodError(cause)) throw cause;
    const [issue] = check(VirtualMachineInstanceSchema, vmi, { maxIssues: 1 }).issues;
    const path = issue && formatPath(issue.path);
    const message = issue?.message ?? `no Pod can be made of the VMI: ${(cause as Error).message}`;
    const where = path === undefined ? {} : { path };
    throw new LauncherPodError("LAUNCHER_POD_VMI_INVALID", message, { ...where, cause });
  }
}
