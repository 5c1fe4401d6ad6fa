import type { TopologySpreadConstraint, VirtualMachineInstanceSpec } from "../schema/index.ts";
import { type Cause, each, fine, invalid, join, oneOf, quote } from "./cause.ts";
import { labelKey, labelSelector } from "./label-selector.ts";

/** Kubernetes' rules for topology spread constraints, applied early. */
export function topologySpread(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const constraints = spec.topologySpreadConstraints;
  if (!constraints?.length) return fine;
  const field = `${at}.topologySpreadConstraints`;
  const repeated = repeatedLater(constraints);
  return each(constraints, (constraint, i) =>
    join(
      maxSkew(constraint, `${field}[${i}].maxSkew`),
      topologyKey(constraint, `${field}[${i}].topologyKey`),
      whenUnsatisfiable(constraint, `${field}[${i}].whenUnsatisfiable`),
      // Without the index, as in KubeVirt.
      labelSelector(constraint.labelSelector, `${field}.labelSelector`),
      repeated.has(i)
        ? invalid(
            `${field}[${i}].{topologyKey, whenUnsatisfiable}`,
            `is repeated further down (${quote(constraint.topologyKey)}, ${constraint.whenUnsatisfiable}); keep one`,
          )
        : fine,
    ),
  );
}

/** Indices of the constraints whose key and action occur again later. */
function repeatedLater(constraints: readonly TopologySpreadConstraint[]): ReadonlySet<number> {
  const seen = new Set<string>();
  const repeated = new Set<number>();
  for (let i = constraints.length - 1; i >= 0; i--) {
    const constraint = constraints[i];
    const key = JSON.stringify([constraint?.topologyKey, constraint?.whenUnsatisfiable]);
    if (seen.has(key)) repeated.add(i);
    seen.add(key);
  }
  return repeated;
}

function maxSkew({ maxSkew: found }: TopologySpreadConstraint, field: string): readonly Cause[] {
  return found > 0 ? fine : invalid(field, `is ${quote(found)}; use 1 or more`);
}

function topologyKey(constraint: TopologySpreadConstraint, field: string): readonly Cause[] {
  if (!constraint.topologyKey) {
    return invalid(field, "is empty; name a node label, for example kubernetes.io/hostname");
  }
  return labelKey(constraint.topologyKey, field);
}

const actions: ReadonlySet<string> = new Set(["DoNotSchedule", "ScheduleAnyway"]);

function whenUnsatisfiable(constraint: TopologySpreadConstraint, field: string): readonly Cause[] {
  if (actions.has(constraint.whenUnsatisfiable)) return fine;
  return invalid(field, `is ${quote(constraint.whenUnsatisfiable)}; use ${oneOf(actions)}`);
}
