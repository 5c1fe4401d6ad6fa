import { defaultVirtualMachineInstance } from "@virtkit/api/defaults";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { blockVolumes } from "@virtkit/api/volumes";
import {
  type Environment,
  environmentConfig,
  prepareVmi,
  resolveContext,
} from "@virtkit/converter";
import type { SyncRequest } from "@virtkit/domain-manager";
import type { Preparation } from "../prepare/prepare.ts";
import { hypervisorDevice } from "../prepare/wanted-devices.ts";
import { stableUuid } from "../stable-uuid.ts";

/**
 * A VMI with its defaults, those of its own claims apart. One that has a phase was admitted, and is not
 * changed; what would be drawn at random is the same each time, for the guest's firmware must not change
 * with a restart.
 */
export function withDefaults(
  vmi: VirtualMachineInstance,
  environment: Environment,
): VirtualMachineInstance {
  if (environment.skipDefaulting || vmi.status?.phase) return vmi;
  const uid = vmi.metadata?.uid ?? "";
  const uuid = environment.firmwareUUID ?? stableUuid("firmware", uid);
  return defaultVirtualMachineInstance(vmi, environmentConfig(environment), { uuid: () => uuid });
}

const architectures: Readonly<Record<string, string>> = {
  x64: "amd64",
  arm64: "arm64",
  s390x: "s390x",
};

/**
 * What the launcher is asked for, but for the right to run: the VMI with images on its claims, and the
 * context, in which what was seen of the sandbox stands where the environment says nothing else. Pure
 * but for the architecture of this machine.
 */
export function guestRequest(
  vmi: VirtualMachineInstance,
  { facts, podLinks }: Pick<Preparation, "facts" | "podLinks">,
  environment: Environment,
): Omit<SyncRequest, "mayRun"> {
  const config = environmentConfig(environment);
  const hostArchitecture = architectures[process.arch];
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
  };
  const all: Environment = { ...found, ...environment, skipDefaulting: true };
  const prepared = prepareVmi(vmi, all);
  const { noDirectIO, directIOErrors, preallocatedPaths } = all;
  return {
    vmi: prepared,
    context: resolveContext(prepared, all),
    pod: {
      podLinks: all.podLinks ?? {},
      ...(noDirectIO ? { noDirectIO } : {}),
      ...(directIOErrors ? { directIOErrors } : {}),
      ...(preallocatedPaths ? { preallocatedPaths } : {}),
    },
  };
}
