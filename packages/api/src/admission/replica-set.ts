import type { ClusterConfig } from "../config/index.ts";
import { matchesSelector } from "../match-labels.ts";
import { VirtualMachineInstanceReplicaSetSchema } from "../schema/index.ts";
import { type Admission, judge, refuse, refuseShape } from "./admission.ts";
import { argumentProblem } from "./argument-problem.ts";
import { fine, invalid, required } from "./cause.ts";
import { decode } from "./decode.ts";
import { labelSelector } from "./label-selector.ts";
import { specCauses } from "./spec.ts";

/**
 * Checks a VirtualMachineInstanceReplicaSet: its template as a VMI, and that its selector matches the VMIs that it
 * creates.
 */
export function admitReplicaSet(
  request: { readonly object: unknown },
  config: ClusterConfig,
): Admission {
  const problem = argumentProblem({ request, config });
  if (problem) return refuse(400, problem.message);
  const decoded = decode(VirtualMachineInstanceReplicaSetSchema, request.object);
  if (!decoded.ok) return refuseShape(decoded);
  const { selector, template } = decoded.object.spec;
  if (!template?.spec) return judge(required("spec.template", "must describe a VMI"));
  const malformed = labelSelector(selector, "spec.selector");
  const labels = template.metadata?.labels ?? {};
  const matches = malformed.length === 0 && matchesSelector(selector ?? {}, labels);
  return judge([
    ...specCauses(template.spec, "spec.template.spec", config),
    ...malformed,
    ...(matches || malformed.length > 0
      ? fine
      : invalid("spec.selector", "does not match spec.template.metadata.labels; make them agree")),
  ]);
}
