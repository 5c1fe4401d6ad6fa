import type { VirtualMachinePreferenceSpec } from "../schema/index.ts";
import { preferredTopology, spreadOptions, spreadThreadsPerCore } from "./preferred-topology.ts";

/** How the guest sees its vCPUs. */
export interface GuestTopology {
  readonly sockets: number;
  readonly cores: number;
  readonly threads: number;
}

const single: GuestTopology = { sockets: 1, cores: 1, threads: 1 };

/**
 * Sockets, cores and threads for this number of vCPUs; one of each if the preference asks for an unknown
 * topology. `undefined` if it spreads them by a ratio of zero.
 */
export function guestTopology(
  vCpus: number,
  preference: VirtualMachinePreferenceSpec | undefined,
): GuestTopology | undefined {
  if (vCpus === 1) return single;
  switch (preferredTopology(preference)) {
    case "cores":
      return { ...single, cores: vCpus };
    case "threads":
      return { ...single, threads: vCpus };
    case "sockets":
    case "any":
      return { ...single, sockets: vCpus };
    case "spread":
      return spread(vCpus, preference);
    case "unknown":
      return single;
  }
}

function spread(
  vCpus: number,
  preference: VirtualMachinePreferenceSpec | undefined,
): GuestTopology | undefined {
  const { ratio, across } = spreadOptions(preference);
  switch (across) {
    case "SocketsCores":
      return ratio ? { ...single, cores: ratio, sockets: Math.trunc(vCpus / ratio) } : undefined;
    case "CoresThreads":
      return ratio ? { ...single, threads: ratio, cores: Math.trunc(vCpus / ratio) } : undefined;
    case "SocketsCoresThreads": {
      if (!ratio) return undefined;
      const sockets = Math.trunc(Math.trunc(vCpus / spreadThreadsPerCore) / ratio);
      return { threads: spreadThreadsPerCore, cores: ratio, sockets };
    }
    default:
      return single;
  }
}
