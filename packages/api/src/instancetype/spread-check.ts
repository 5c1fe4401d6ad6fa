import type {
  VirtualMachineInstancetypeSpec,
  VirtualMachinePreferenceSpec,
} from "../schema/index.ts";
import { at, isObject, number } from "../shape.ts";
import type { InstancetypeConflict } from "./conflict.ts";
import { preferredTopology, spreadOptions, spreadThreadsPerCore } from "./preferred-topology.ts";

/** The vCPUs cannot be spread evenly, or the ratio is zero. */
export type SpreadProblem =
  | { readonly kind: "uneven"; readonly conflict: InstancetypeConflict }
  | { readonly kind: "zero-ratio"; readonly conflict: InstancetypeConflict };

const field = "instancetype.spec.cpu.guest";

/** Why the vCPUs of an instance type cannot be spread as a preference asks; `undefined` if they can. */
export function spreadProblem(
  instancetype: VirtualMachineInstancetypeSpec | undefined,
  preference: VirtualMachinePreferenceSpec | undefined,
): SpreadProblem | undefined {
  if (!isObject(instancetype) || preferredTopology(preference) !== "spread") return undefined;
  const vCpus = number(at(instancetype, "cpu", "guest"));
  const { ratio, across } = spreadOptions(preference);
  switch (across) {
    case "SocketsCores":
    case "CoresThreads":
      return divides(vCpus, ratio);
    case "SocketsCoresThreads":
      return vCpus % spreadThreadsPerCore > 0
        ? uneven(vCpus, spreadThreadsPerCore * Math.max(ratio, 1))
        : divides(vCpus, ratio, spreadThreadsPerCore);
    default:
      return undefined;
  }
}

function divides(vCpus: number, ratio: number, threads = 1): SpreadProblem | undefined {
  if (ratio === 0) {
    const zero = "the preference spreads vCPUs by a ratio of 0; use 1 or more";
    return { kind: "zero-ratio", conflict: { field, message: zero } };
  }
  return vCpus % (threads * ratio) > 0 ? uneven(vCpus, threads * ratio) : undefined;
}

function uneven(vCpus: number, divisor: number): SpreadProblem {
  const message = `${field} is ${vCpus}, which the preference spreads by ${divisor}; use a multiple of that`;
  return { kind: "uneven", conflict: { field, message } };
}
