import type { ClusterConfig } from "../config/index.ts";
import {
  type ObjectMeta,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
  type VirtualMachineInstanceSpec,
  type VirtualMachineInstanceStatus,
} from "../schema/index.ts";
import { architectureDefaults, architectureFeatures } from "./architecture-defaults.ts";
import { defaultSpec } from "./default-spec.ts";
import { type DefaultsOptions, timestamp, uuidSource } from "./defaults-options.ts";
import { guardObject } from "./guard-object.ts";
import { hotplugLimits } from "./hotplug-limits.ts";
import { defaultHypervDependencies } from "./hyperv-dependency.ts";
import { pciTopology } from "./pci-topology.ts";
import { sanitiseAddresses } from "./sanitise-addresses.ts";
import { typeDefaults } from "./type-defaults.ts";
import { wireForm } from "./wire-form.ts";

/** User id under which QEMU runs, unless the gate Root is on. */
const qemuUser = 107;

/**
 * A new VirtualMachineInstance with everything that KubeVirt's mutating webhook fills in on create: spec,
 * annotations, finalizer, and a status with the phase Pending.
 *
 * The argument must have the shape of its schema; it is not changed. Throws an `ApiError`: with
 * `API_OBJECT_MALFORMED` and the field as `path` if the shape is wrong, with `API_DEFAULTS_IMPOSSIBLE` if the
 * cluster's default network cannot be used.
 *
 * @example
 * const full = defaultVirtualMachineInstance(vmi, clusterConfig({}));
 */
export function defaultVirtualMachineInstance(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
  options: DefaultsOptions = {},
): VirtualMachineInstance {
  return guardObject(VirtualMachineInstanceSchema, vmi, () => filledIn(vmi, config, options));
}

function filledIn(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
  options: DefaultsOptions,
): VirtualMachineInstance {
  const draft = wireForm(VirtualMachineInstanceSchema, vmi);
  const { spec } = draft;
  draft.metadata ??= {};
  const metadata = draft.metadata;
  draft.status ??= {};
  const status = draft.status;
  sanitiseAddresses(spec);
  defaultSpec(spec, config);
  architectureFeatures(spec);
  typeDefaults(spec, uuidSource(options));
  defaultHypervDependencies(spec);
  architectureDefaults(spec, config);
  initialStatus(status, spec);
  hotplugLimits(spec, config);
  annotate(metadata, spec, config);
  status.runtimeUser = config.gate("Root") ? (status.runtimeUser ?? 0) : qemuUser;
  metadata.finalizers = [...(metadata.finalizers ?? []), config.names.finalizers.vmi];
  enterPending(status, timestamp(options));
  return draft;
}

/** The guest's initial values; later changes are compared with them. */
function initialStatus(
  status: VirtualMachineInstanceStatus,
  { domain }: VirtualMachineInstanceSpec,
): void {
  const guest = domain.memory?.guest;
  if (guest !== undefined) {
    status.memory = { guestAtBoot: guest, guestCurrent: guest, guestRequested: guest };
  }
  const { cpu } = domain;
  if (!cpu || status.currentCPUTopology) return;
  status.currentCPUTopology = {
    ...(cpu.cores ? { cores: cpu.cores } : {}),
    ...(cpu.sockets ? { sockets: cpu.sockets } : {}),
    ...(cpu.threads ? { threads: cpu.threads } : {}),
  };
}

function annotate(
  metadata: ObjectMeta,
  spec: VirtualMachineInstanceSpec,
  config: ClusterConfig,
): void {
  pciTopology(metadata, spec, config);
  const { emulatorThreadCompleteToEvenParity: evenParity, qgsSocketPath } =
    config.names.annotations;
  const added: Record<string, string> = {};
  if (spec.domain.cpu?.isolateEmulatorThread && config.gate("AlignCPUs")) {
    if (Object.hasOwn(config.annotations, evenParity)) added[evenParity] = "";
  }
  if (spec.domain.launchSecurity?.tdx && config.qgsSocketPath) {
    added[qgsSocketPath] = config.qgsSocketPath;
  }
  if (Object.keys(added).length > 0) metadata.annotations = { ...metadata.annotations, ...added };
}

function enterPending(status: VirtualMachineInstanceStatus, now: string): void {
  // KubeVirt always writes it, although it is empty.
  status.guestOSInfo ??= {};
  status.phase = "Pending";
  status.phaseTransitionTimestamps = [
    ...(status.phaseTransitionTimestamps ?? []),
    { phase: "Pending", phaseTransitionTimestamp: now },
  ];
}
