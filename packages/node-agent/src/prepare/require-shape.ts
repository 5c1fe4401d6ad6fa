import {
  typeProblem,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
} from "@virtkit/api/schema";
import { NodeAgentError } from "../node-agent-error.ts";

/**
 * Makes sure that a VMI can be read: nothing in it is of the wrong type, and the parts are there that
 * every guest has. What else is missing may be missing.
 *
 * @throws NodeAgentError `AGENT_VMI_INVALID` with the field in `path`.
 */
export function requireShape(vmi: VirtualMachineInstance): void {
  const problem = typeProblem(VirtualMachineInstanceSchema, vmi);
  if (problem) throw invalid(problem.path, problem.message);
  if (!vmi?.spec?.domain?.devices) {
    throw invalid(
      "spec.domain.devices",
      "spec.domain.devices: missing; apply the VMI's defaults first",
    );
  }
}

function invalid(path: string, problem: string): NodeAgentError {
  return new NodeAgentError("AGENT_VMI_INVALID", problem, { path });
}
