import {
  formatPath,
  shapeProblem,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
} from "@virtkit/api/schema";
import { NetworkSetupError } from "../network-setup-error.ts";

/** The parts of a VMI that this package reads. */
const parts = /^(spec\.networks|spec\.domain\.devices\.interfaces|status\.interfaces)\b/;

/**
 * Checks the shape of the parts of a VMI that this package reads. Admission has done so for VMIs
 * from a cluster, but files may come from anywhere. Throws a {@link NetworkSetupError} with the
 * field.
 */
export function checkSpec(vmi: VirtualMachineInstance): void {
  const problem = shapeProblem(VirtualMachineInstanceSchema, vmi, ({ path }) =>
    parts.test(formatPath(path)),
  );
  if (!problem) return;
  const { path, message } = problem;
  throw new NetworkSetupError("NETWORK_SPEC_INVALID", message, { path });
}
