import { graceHostDeviceAliases as graceHostDeviceAliasesOf } from "@virtkit/api/admission";
import { type ClusterConfig, clusterConfig } from "@virtkit/api/config";
import { defaultVirtualMachineInstance } from "@virtkit/api/defaults";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { blockVolumes } from "@virtkit/api/volumes";
import { type Environment, resolveContext } from "@virtkit/converter";
import type { SyncRequest } from "@virtkit/domain-manager";
import { hostArchitecture } from "../host-architecture.ts";
import type { Preparation } from "../prepare/prepare.ts";
import { hypervisorDevice } from "../prepare/wanted-devices.ts";
import { stableUuid } from "../stable-uuid.ts";

/**
 * A VMI with its defaults, except for those of its own claims. A VMI with a phase was admitted, and is not changed.
 * Values that would be random are always the same, because the guest's firmware must not change with a restart.
 */
export function withDefaults(
  vmi: VirtualMachineInstance,
  { config = clusterConfig(), firmwareUUID }: Environment,
): VirtualMachineInstance {
  if (vmi.status?.phase) return vmi;
  const uuid = firmwareUUID ?? stableUuid("firmware", vmi.metadata?.uid ?? "");
  return defaultVirtualMachineInstance(vmi, config, { uuid: () => uuid });
}

/**
 * The request to the launcher, without the proof that it may run: the prepared VMI and the context, with what was
 * seen of the sandbox unless the environment overrides it. Pure, except for the architecture of this host.
 */
export function guestRequest(
  { vmi, facts, podLinks }: Pick<Preparation, "vmi" | "facts" | "podLinks">,
  environment: Environment,
): Omit<SyncRequest, "mayRun"> {
  const { config = clusterConfig() } = environment;
  const found: Environment = {
    disksInfo: Object.fromEntries(
      Object.entries(facts.images).map(([volume, { format, virtualSize }]) => [
        volume,
        { format, "virtual-size": Number(virtualSize) },
      ]),
    ),
    blockVolumes: blockVolumes(vmi),
    hypervisorDeviceAvailable: facts.entries[hypervisorDevice(config)] === "char",
    ...(config.hypervisor.name ? { hypervisorName: config.hypervisor.name } : {}),
    ...(hostArchitecture === undefined ? {} : { hostArchitecture }),
    podLinks,
    ...graceDevices(vmi, config),
  };
  const all: Environment = { ...found, ...environment };
  const { noDirectIO, directIOErrors, preallocatedPaths } = all;
  return {
    vmi,
    context: resolveContext(vmi, all),
    pod: {
      podLinks: all.podLinks ?? {},
      ...(noDirectIO ? { noDirectIO } : {}),
      ...(directIOErrors ? { directIOErrors } : {}),
      ...(preallocatedPaths ? { preallocatedPaths } : {}),
    },
  };
}

function graceDevices({ spec }: VirtualMachineInstance, config: ClusterConfig): Environment {
  const graceHostDeviceAliases = graceHostDeviceAliasesOf(spec, config);
  return graceHostDeviceAliases.length > 0 ? { graceHostDeviceAliases } : {};
}
