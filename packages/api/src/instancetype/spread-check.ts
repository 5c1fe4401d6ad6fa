import type {
  VirtualMachineInstancetypeSpec,
  VirtualMachinePreferenceSpec,
} from "../schema/index.ts";
import { at, isObject, number } from "../shape.ts";
import type { InstancetypeConflict } from "./conflict.ts";
import { preferredTopology, spreadOptions, spreadThreadsPerCore } from "./preferred-topology.ts";

/** The vCPUs cannot be spread evenly, or the ratio is zero, which nothing can be divided by. */
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
  const ratioField = "Spec.PreferSpreadSocketToCoreRatio or Spec.CPU.PreferSpreadOptions.Ratio";
  const start = `${vCpus} vCPUs provided by the instance type are not divisible by the`;
  switch (across) {
    case "SocketsCores":
      return divides(vCpus, ratio, `${start} ${ratioField} of ${ratio} provided by the preference`);
    case "CoresThreads":
      return divides(vCpus, ratio, `${start} number of threads per core ${ratio}`);
    case "SocketsCoresThreads": {
      const message = `${start} number of threads per core ${spreadThreadsPerCore} and ${ratioField} of ${ratio}`;
      if (vCpus % spreadThreadsPerCore > 0) return uneven(message);
      return divides(vCpus / spreadThreadsPerCore, ratio, message);
    }
    default:
      return undefined;
  }
}

function divides(vCpus: number, ratio: number, message: string): SpreadProblem | undefined {
  if (ratio === 0) {
    const zero = "the preference spreads vCPUs by a ratio of 0; use 1 or more";
    return { kind: "zero-ratio", conflict: { field, message: zero } };
  }
  return vCpus % ratio > 0 ? uneven(message) : undefined;
}

function uneven(message: string): SpreadProblem {
  return { kind: "uneven", conflict: { field, message } };
}
