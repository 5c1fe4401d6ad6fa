import type { VirtualMachinePreferenceSpec } from "../schema/index.ts";
import { at, isSet, number, text } from "../shape.ts";

/** How the vCPUs of an instance type become sockets, cores and threads. */
export type CpuTopology = "sockets" | "cores" | "threads" | "spread" | "any" | "unknown";

/** The names of a topology: the present one, and the earlier one. */
const topologies: Readonly<Record<string, CpuTopology>> = {
  sockets: "sockets",
  preferSockets: "sockets",
  cores: "cores",
  preferCores: "cores",
  threads: "threads",
  preferThreads: "threads",
  spread: "spread",
  preferSpread: "spread",
  any: "any",
  preferAny: "any",
};

/** How many of the lower kind each of the higher one gets, unless a preference says otherwise. */
const defaultSpreadRatio = 2;

/** Threads of each core where vCPUs are spread across all three. */
export const spreadThreadsPerCore = 2;

/** The topology that a preference asks for; `sockets` by default. */
export function preferredTopology(
  preference: VirtualMachinePreferenceSpec | undefined,
): CpuTopology {
  const asked = at(preference, "cpu", "preferredCPUTopology");
  if (!isSet(asked)) return "sockets";
  const name = text(asked);
  return Object.hasOwn(topologies, name) ? (topologies[name] ?? "unknown") : "unknown";
}

/** How a preference spreads vCPUs. `across` may be an unknown string. */
export function spreadOptions(preference: VirtualMachinePreferenceSpec | undefined): {
  readonly ratio: number;
  readonly across: string;
} {
  const legacy = number(at(preference, "preferSpreadSocketToCoreRatio"));
  const options = at(preference, "cpu", "spreadOptions");
  const across = at(options, "across");
  return {
    ratio: number(at(options, "ratio"), legacy || defaultSpreadRatio),
    across: isSet(across) ? text(across) : "SocketsCores",
  };
}
