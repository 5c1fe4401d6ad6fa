import {
  type AnnotatedPod,
  defaultNetwork,
  hashedPodInterfaces,
  hasOrdinalInterface,
  type InterfaceStatus,
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
import { at, objects } from "@virtkit/api/shape";
import type { BatchFunction } from "../batch/batch-area.ts";
import { AnswerError } from "./answer-error.ts";
import { contextConfig } from "./request-context.ts";

interface NetworkInput {
  readonly vm: VirtualMachine;
  readonly vmi: VirtualMachineInstance;
  readonly pod?: AnnotatedPod;
}

/** The functions take objects of any shape; only the input itself must be one. */
const read = (input: unknown): NetworkInput => Object(input) as NetworkInput;

/** The functions of area `network`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  podAnnotations: (input, context) =>
    annotations(podAnnotations(read(input).vmi, contextConfig(context))),

  podAnnotationsFromSource: (input, context) => {
    const { vmi, pod = {} } = read(input);
    const answer = targetPodAnnotations(vmi, pod, contextConfig(context));
    return answer ? annotations(answer) : { result: null };
  },

  podAnnotationsFromActivePod: (input, context) => {
    const { vmi, pod = {} } = read(input);
    return { result: livePodAnnotations(vmi, pod, contextConfig(context)) };
  },

  nameScheme: (input) => nameScheme(read(input)),

  updateVMIStatus: (input) => {
    const { vmi, pod } = read(input);
    const statuses = interfaceStatuses(vmi, pod);
    return { result: statuses.length > 0 ? statuses : null };
  },

  migrationRequired: (input, context) => {
    const { vmi, pod } = read(input);
    const now = Date.parse(String(at(context, "now")));
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
    const spec = at(input, "vmi", "spec") as VirtualMachineInstance["spec"] | undefined;
    const answer = defaultNetwork(spec, contextConfig(context));
    if (answer.kind === "refused") return { error: answer.message };
    const { interfaces = [], networks = [] } = answer.kind === "add" ? answer : {};
    const devices = at(spec, "domain", "devices", "interfaces");
    return {
      result: {
        interfaces: interfaces.length > 0 ? interfaces : (devices ?? null),
        networks: networks.length > 0 ? networks : (at(spec, "networks") ?? null),
      },
    };
  },
};

function annotations(answer: PodAnnotations): unknown {
  if ("annotations" in answer) return { result: answer.annotations };
  const { kind, message } = answer.problem;
  if (kind === "missing-interface") throw new AnswerError(answer.problem);
  return { error: message };
}

function nameScheme(input: NetworkInput): unknown {
  const networks = objects<Network>(at(input, "networks"));
  const reported = objects<InterfaceStatus>(at(input, "vmi", "status", "interfaces"));
  const statuses = networkStatuses(input.pod);
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
