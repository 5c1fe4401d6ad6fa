import type { ClusterConfig } from "../config/index.ts";
import type { VirtualMachineInstanceSpec } from "../schema/index.ts";
import { accessCredentials } from "./access-credential.ts";
import { affinity } from "./affinity.ts";
import { disksAndBootOrder } from "./boot-order.ts";
import type { Cause } from "./cause.ts";
import {
  cpuFeaturePolicies,
  cpuLimit,
  cpuRequest,
  cpuRequestWithinLimit,
  isolatedEmulatorThread,
  numaPassthrough,
  realtime,
  socketsWithinMaximum,
} from "./cpu.ts";
import { dedicatedCpus } from "./dedicated-cpu.ts";
import {
  bootDisplays,
  filesystems,
  panicDevices,
  persistentReservation,
  sound,
  video,
} from "./device.ts";
import { disks } from "./disk.ts";
import { dns } from "./dns.ts";
import { evictionStrategy } from "./eviction-strategy.ts";
import { firmware } from "./firmware.ts";
import {
  downwardMetricsDevice,
  hostDevices,
  rebootPolicy,
  reservedOverhead,
  vsock,
} from "./gated-device.ts";
import { hostname, serviceAccountName, subdomain } from "./identity.ts";
import { inputDevices } from "./input-device.ts";
import { ioThreadsPolicy } from "./io-threads.ts";
import { launchSecurity } from "./launch-security.ts";
import { acpiTables, emulatedMachine } from "./machine-type.ts";
import { guestMemoryLimit, hugepages, memoryLimit, memoryRequest } from "./memory.ts";
import { networks } from "./network.ts";
import { graceDevices } from "./nvidia-grace.ts";
import { probeHandlers, probeNetwork } from "./probe.ts";
import { resourceClaims } from "./resource-claim.ts";
import { startStrategy } from "./start-strategy.ts";
import { topologySpread } from "./topology-spread.ts";
import { containerDiskPaths, noUtilityVolumes, volumes } from "./volume.ts";

/**
 * A rule about a VMI's spec. `at` is the path of the spec in the object: `spec` in a VirtualMachineInstance,
 * `spec.template.spec` in a VirtualMachine. Returns what is wrong.
 */
export type SpecRule = (
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
) => readonly Cause[];

/** Every rule that a VirtualMachineInstance and a VirtualMachine's template share, in KubeVirt's order. */
export const specRules: readonly SpecRule[] = [
  hostname,
  subdomain,
  memoryRequest,
  memoryLimit,
  hugepages,
  guestMemoryLimit,
  emulatedMachine,
  acpiTables,
  cpuRequest,
  cpuLimit,
  cpuRequestWithinLimit,
  dedicatedCpus,
  numaPassthrough,
  isolatedEmulatorThread,
  cpuFeaturePolicies,
  socketsWithinMaximum,
  startStrategy,
  realtime,
  affinity,
  topologySpread,
  networks,
  resourceClaims,
  disksAndBootOrder,
  inputDevices,
  ioThreadsPolicy,
  probeHandlers,
  probeNetwork,
  disks,
  firmware,
  volumes,
  containerDiskPaths,
  noUtilityVolumes,
  accessCredentials,
  dns,
  evictionStrategy,
  bootDisplays,
  hostDevices,
  graceDevices,
  sound,
  launchSecurity,
  vsock,
  persistentReservation,
  downwardMetricsDevice,
  filesystems,
  video,
  panicDevices,
  rebootPolicy,
  reservedOverhead,
  serviceAccountName,
];

/** What is wrong with a VMI's spec according to the given rules, by default {@link specRules}. */
export function specCauses(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
  rules: readonly SpecRule[] = specRules,
): readonly Cause[] {
  const causes: Cause[] = [];
  for (const rule of rules) {
    const found = rule(spec, at, config);
    for (const cause of found) causes.push(cause);
  }
  return causes;
}
