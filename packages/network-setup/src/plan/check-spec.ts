import {
  formatPath,
  shapeProblem,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
} from "@virtkit/api/schema";
import { NetworkSetupError } from "../network-setup-error.ts";

/** The parts of a VMI that are read here. */
const parts = /^(spec\.networks|spec\.domain\.devices\.interfaces|status\.interfaces)\b/;

/**
 * Checks that the parts of a VMI that are read here have their shape; admission has done so for VMIs
 * of a cluster, and files come from anywhere. Throws a {@link NetworkSetupError} with the field.
 */
export function checkSpec(vmi: VirtualMachineInstance): void {
  const problem = shapeProblem(VirtualMachineInstanceSchema, vmi, ({ path }) =>
    parts.test(formatPath(path)),
  );
  if (!problem) return;
  const { path, message } = problem;
  throw new NetworkSetupError("NETWORK_SPEC_INVALID", message, { path });
}
