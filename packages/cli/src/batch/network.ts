import {
  type AnnotatedPod,
  defaultNetwork,
  hashedPodInterfaces,
  hasOrdinalInterface,
  interfaceStatuses,
  livePodAnnotations,
  mayHaveOrdinalInterfaces,
  networkMigrationRequirement,
  networkRestartRequired,
  networkStatuses,
  ordinalPodInterfaces,
  type PodAnnotations,
  type PodInterfaceNames,
  podAnnotations,
  podInterface,
  podInterfaces,
  syncVmNetworks,
  targetPodAnnotations,
} from "@virtkit/api/network";
import type { Network, VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import type { BatchFunction } from "./batch-area.ts";
import { configOf, nested } from "./request.ts";

interface NetworkInput {
  readonly vm: VirtualMachine;
  readonly vmi: VirtualMachineInstance;
  readonly pod?: AnnotatedPod;
  readonly networks?: Network[];
}

const read = (input: unknown): NetworkInput => input as NetworkInput;

/** The functions of oracle area `network`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  podAnnotations: (input, context) =>
    annotations(podAnnotations(read(input).vmi, configOf(context))),

  podAnnotationsFromSource: (input, context) => {
    const { vmi, pod = {} } = read(input);
    const answer = targetPodAnnotations(vmi, pod, configOf(context));
    return answer ? annotations(answer) : { result: null };
  },

  podAnnotationsFromActivePod: (input, context) => {
    const { vmi, pod = {} } = read(input);
    return { result: livePodAnnotations(vmi, pod, configOf(context)) };
  },

  nameScheme: (input) => nameScheme(read(input)),

  updateVMIStatus: (input) => {
    const { vmi, pod } = read(input);
    const statuses = interfaceStatuses(vmi, pod);
    return { result: statuses.length > 0 ? statuses : null };
  },

  migrationRequired: (input, context) => {
    const { vmi, pod } = read(input);
    const now = Date.parse(String(nested(context, "now")));
    return { conditionStatus: networkMigrationRequirement(vmi, pod, now) };
  },

  restartRequired: (input) => ({
    restartRequired: networkRestartRequired(read(input).vm, read(input).vmi),
  }),

  vmSync: (input) => {
    const { vm, vmi } = read(input);
    const plan = syncVmNetworks(vm, vmi);
    return {
      vmInterfaces: listOrNull(plan.vm.interfaces),
      vmNetworks: listOrNull(plan.vm.networks),
      vmiPatches: plan.vmiPatch ? [plan.vmiPatch] : null,
    };
  },

  defaultNetwork: (input, context) => {
    const { spec } = read(input).vmi;
    const answer = defaultNetwork(spec, configOf(context));
    if (answer.kind === "refused") return { error: refusals[answer.binding] };
    const { interfaces = [], networks = [] } = answer.kind === "add" ? answer : {};
    const devices = nested(spec, "domain", "devices", "interfaces");
    return {
      result: {
        interfaces: interfaces.length > 0 ? interfaces : (devices ?? null),
        networks: networks.length > 0 ? networks : (nested(spec, "networks") ?? null),
      },
    };
  },
};

/** How KubeVirt words it. */
const refusals = {
  bridge: "bridge interface is not enabled in kubevirt-config",
  slirp: "slirp interface is deprecated as of v1.3",
} as const;

function annotations(answer: PodAnnotations): unknown {
  if ("annotations" in answer) return { result: answer.annotations };
  const { kind, name, message } = answer.problem;
  if (kind === "missing-interface") throw new Error(message);
  return { error: `unable to find the network binding plugin '${name}' in Kubevirt configuration` };
}

function nameScheme({ networks = [], vmi, pod }: NetworkInput): unknown {
  const statuses = networkStatuses(pod);
  const reported = vmi?.status?.interfaces ?? [];
  const hashedPodInterfaceName = networks.map((network) => [
    network.name,
    podInterface(network, reported),
  ]);
  return {
    hashed: names(hashedPodInterfaces(networks)),
    ordinal: names(ordinalPodInterfaces(networks)),
    fromNetworkStatuses: names(podInterfaces(networks, statuses)),
    podHasOrdinal: hasOrdinalInterface(statuses),
    hasOrdinalSecondaryIfaces: mayHaveOrdinalInterfaces(networks, reported),
    hashedPodInterfaceName: Object.fromEntries(hashedPodInterfaceName),
  };
}

function names(map: PodInterfaceNames): unknown {
  return Object.fromEntries(map);
}

function listOrNull(list: readonly unknown[]): readonly unknown[] | null {
  return list.length > 0 ? list : null;
}
