import { check, formatPath, VirtualMachineInstanceSchema } from "@virtkit/api/schema";
import { LauncherPodError } from "./launcher-pod-error.ts";

/**
 * Runs a renderer on a VMI that may never have been checked. Steps read it as its type says; where
 * it lies (a list that is text, a `null` among volumes) the failure becomes an error that names the
 * field that the schema complains of first. Well-formed input pays nothing.
 */
export function guardInput<T>(vmi: unknown, render: () => T): T {
  try {
    return render();
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    const [issue] = check(VirtualMachineInstanceSchema, vmi, { maxIssues: 1 }).issues;
    if (!issue) {
      const message = `an object that the VMI refers to has the wrong shape: ${cause.message}`;
      throw new LauncherPodError("LAUNCHER_POD_VMI_INVALID", message, { cause });
    }
    const path = formatPath(issue.path);
    throw new LauncherPodError("LAUNCHER_POD_VMI_INVALID", issue.message, { path, cause });
  }
}
