import type { NamesOptions } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { architectureOf } from "../architecture/architecture-of.ts";
import { cpuPinning } from "../compute/cpu-pinning.ts";
import { requestedTopology, vcpusOf } from "../compute/cpu-topology.ts";
import { planIoThreads } from "../compute/io-thread-plan.ts";
import type { NodeTopology } from "../context.ts";
import { malformedVmi } from "../malformed-vmi.ts";
import type { Domain } from "../model/domain.ts";
import { platformOf } from "../platform.ts";
import type { TargetCpus } from "./migration-target.ts";

/** The CPUs that the destination node has reserved for the guest. */
export interface AssignedCpus {
  readonly cpuSet: readonly number[];
  readonly topology: NodeTopology;
  /** The platform's names for annotations. Default: KubeVirt's. */
  readonly names?: NamesOptions | null | undefined;
}

/**
 * What a running domain becomes on the CPUs of another node, by the rules that pinned it here; `undefined` if
 * the VMI has no dedicated CPUs.
 *
 * @throws ConverterError if there are too few CPUs.
 */
export function targetCpus(
  running: Domain,
  vmi: VirtualMachineInstance,
  { cpuSet, topology: node, names }: AssignedCpus,
): TargetCpus | undefined {
  const spec = vmi.spec.domain;
  if (!spec.cpu?.dedicatedCpuPlacement) return undefined;
  try {
    const requested = requestedTopology(spec);
    const full = { ...requested, sockets: spec.cpu.maxSockets || requested.sockets };
    const architecture = architectureOf(vmi.spec.architecture ?? "");
    const vcpu = { placement: "static", count: vcpusOf(full) };
    const domain = pinnable(running);
    domain.cpu.topology = full;
    cpuPinning.configure({
      vmi,
      spec,
      devices: spec.devices ?? {},
      annotations: vmi.metadata?.annotations ?? {},
      context: { architecture: vmi.spec.architecture ?? "", cpuSet, topology: node },
      ...platformOf({ names: names ?? null }),
      architecture,
      topology: requested,
      ioThreads: planIoThreads(spec),
      virtioModel: "",
      iommu: undefined,
      domain,
    });
    const { cputune, numatune, features } = domain;
    return { topology: full, vcpu, cputune, numatune, features };
  } catch (error) {
    throw malformedVmi(error, vmi);
  }
}

/** A copy of the parts that pinning changes. */
function pinnable(running: Domain): Domain {
  const { cpu, features, memoryBacking } = running;
  return {
    ...running,
    cpu: { ...cpu },
    features: features && { ...features, kvm: features.kvm && { ...features.kvm } },
    memoryBacking: memoryBacking && { ...memoryBacking },
  };
}
