import { hashedPodInterfaces, linkNames } from "@virtkit/api/network";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { ConverterContext } from "../context.ts";
import { invalidContext } from "../converter-error.ts";
import type { Domain } from "../model/domain.ts";
import type { MigrationTarget } from "./migration-target.ts";
import { targetCpus } from "./target-cpus.ts";

/**
 * What the destination changes in the XML that it receives, from what it knows about its own Pod.
 *
 * @throws ConverterError if the VMI has dedicated CPUs and the context does not, or if its GPU cannot be migrated.
 */
export function destinationTarget(
  incoming: Domain,
  vmi: VirtualMachineInstance,
  context: ConverterContext,
): MigrationTarget {
  const { sourceState, targetState } = vmi.status?.migrationState ?? {};
  const from = sourceState?.domainNamespace ?? vmi.metadata?.namespace ?? "";
  const to = targetState?.domainNamespace ?? "";
  const cpus = targetCpus(incoming, vmi, {
    cpuSet: context.cpuSet ?? [],
    topology: context.topology ?? {},
    names: context.names,
  });
  const mediatedDevice = mediatedUuid(context);
  const networks = vmi.spec.networks ?? [];
  const names = hashedPodInterfaces(networks);
  const taps = networks.flatMap((network) => {
    const name = names.get(network.name);
    return name === undefined ? [] : [[network.name, linkNames(name, network).tap]];
  });
  return {
    taps: Object.fromEntries(taps) as Record<string, string>,
    ...(to !== "" && from !== to && { namespace: { from, to, match: "segment" } }),
    ...(cpus && { cpus }),
    ...(mediatedDevice !== undefined && { mediatedDevice }),
  };
}

function mediatedUuid({ gpuHostDevices }: ConverterContext): string | undefined {
  const [device, second] = gpuHostDevices ?? [];
  if (!device) return undefined;
  if (second)
    throw invalidContext(
      "gpuHostDevices[1]",
      "is a second host device; a guest with a vGPU can migrate only if it has no other",
    );
  const uuid = device.Source.Address?.UUID;
  if (device.Type === "mdev" && uuid) return uuid;
  throw invalidContext(
    "gpuHostDevices[0]",
    "is not a mediated device; only mediated devices can migrate",
  );
}
