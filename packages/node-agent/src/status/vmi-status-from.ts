import { type Names, names as wellKnownNames } from "@virtkit/api/names";
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceNetworkInterface,
  VirtualMachineInstanceStatus,
} from "@virtkit/api/schema";
import type { DomainStatus } from "@virtkit/domain-manager";
import { mergeInterfaceStatuses } from "@virtkit/network-setup/status";
import { currentMemory } from "./current-memory.ts";
import { nextPhase } from "./next-phase.ts";
import { type ConditionOptions, nodeConditions } from "./node-conditions.ts";
import { volumeStatuses } from "./volume-statuses.ts";

/** What {@link vmiStatusFrom} is based on besides the VMI and its domain. */
export interface VmiStatusOptions extends ConditionOptions {
  /** Whether the launcher has been silent for too long. Default false. */
  readonly launcherIsLost?: boolean;
  /** The Pod's addresses by network, as found by the wiring. */
  readonly podIps?: Readonly<Record<string, readonly string[]>>;
  /** Hotplugged volumes that are mounted in the Pod now. Default: unknown. */
  readonly mountedVolumes?: readonly string[];
  /** The platform's names. Default: KubeVirt's. */
  readonly names?: Names;
}

/**
 * The present status of a VMI, from its launcher's report about the guest: the part of it that the node
 * writes. Everything else stays as it was. Pure: the same values give the same status, and if nothing has
 * changed it equals the previous one.
 *
 * A domain in the state `Absent` means that there is none: a VMI that ran has then failed. Do not pass it
 * because a launcher does not answer; that is not evidence.
 *
 * @example
 * ```ts
 * const status = vmiStatusFrom(await launcher.status(), vmi, { config, now: new Date().toISOString() });
 * ```
 */
export function vmiStatusFrom(
  domain: DomainStatus,
  previous: VirtualMachineInstance,
  options: VmiStatusOptions,
): VirtualMachineInstanceStatus {
  const before = previous.status ?? {};
  // The end of a VMI is final, whatever is left of its domain.
  if (before.phase === "Succeeded" || before.phase === "Failed") return before;
  const known = domain.state === "Absent" ? undefined : domain;
  const { names = wellKnownNames(), launcherIsLost = false } = options;
  const phase = nextPhase(previous, known, {
    launcherIsLost,
    hasFailed: options.failure?.isFinal ?? false,
    migrationTargetAnnotation: names.annotations.createMigrationTarget,
  });
  const conditions = nodeConditions(previous, known, options);
  const volumeStatus = volumeStatuses(previous, known, options.mountedVolumes);
  return {
    ...(known ? withoutThaw(before, known) : before),
    ...(phase === undefined || phase === before.phase ? {} : entered(before, phase, options.now)),
    ...(before.conditions || conditions.length > 0 ? { conditions: [...conditions] } : {}),
    ...(volumeStatus ? { volumeStatus: [...volumeStatus] } : {}),
    ...(known ? guestFields(known, previous, options) : {}),
  };
}

function entered(
  { phaseTransitionTimestamps = [] }: VirtualMachineInstanceStatus,
  phase: NonNullable<VirtualMachineInstanceStatus["phase"]>,
  now: string,
): VirtualMachineInstanceStatus {
  // The first time in a phase is the one that is reported.
  if (phaseTransitionTimestamps.some((each) => each.phase === phase)) return { phase };
  const entry = { phase, phaseTransitionTimestamp: now };
  return { phase, phaseTransitionTimestamps: [...phaseTransitionTimestamps, entry] };
}

/** What only a domain, or the guest's agent, knows. */
function guestFields(
  domain: DomainStatus,
  vmi: VirtualMachineInstance,
  { podIps }: VmiStatusOptions,
): VirtualMachineInstanceStatus {
  const { status: before = {} } = vmi;
  const { os, hardware } = domain;
  const interfaces = interfacesOf(domain, vmi, podIps);
  return {
    ...(before.interfaces || interfaces.length > 0 ? { interfaces: [...interfaces] } : {}),
    // Only if the name differs, as in KubeVirt: a new kernel of the same system is not reported.
    ...(os?.name && os.name !== before.guestOSInfo?.name ? { guestOSInfo: { ...os } } : {}),
    ...(domain.fsFreeze === "frozen" ? { fsFreezeStatus: domain.fsFreeze } : {}),
    ...(hardware?.machine ? { machine: { type: hardware.machine } } : {}),
    ...(hardware?.memory ? { memory: memoryNow(hardware.memory, before.memory) } : {}),
  };
}

/** A size in an unknown unit leaves no size, as in KubeVirt. */
function memoryNow(
  memory: Parameters<typeof currentMemory>[0],
  { guestCurrent: _, ...rest }: NonNullable<VirtualMachineInstanceStatus["memory"]> = {},
): NonNullable<VirtualMachineInstanceStatus["memory"]> {
  const guestCurrent = currentMemory(memory);
  return { ...rest, ...(guestCurrent === undefined ? {} : { guestCurrent }) };
}

/** A guest that is known not to be frozen has no entry; an unknown state stays as it was. */
function withoutThaw(
  before: VirtualMachineInstanceStatus,
  { fsFreeze }: DomainStatus,
): VirtualMachineInstanceStatus {
  if (fsFreeze !== "thawed") return before;
  const { fsFreezeStatus: _, ...rest } = before;
  return rest;
}

/** A card of the domain has queues; a host device has none, and the rest belongs to the guest. */
function interfacesOf(
  { interfaces }: DomainStatus,
  vmi: VirtualMachineInstance,
  podIps: VmiStatusOptions["podIps"],
): readonly VirtualMachineInstanceNetworkInterface[] {
  return mergeInterfaceStatuses(vmi, {
    domain: interfaces.flatMap(({ name, mac, queueCount, linkState }) =>
      name === undefined || queueCount === undefined
        ? []
        : [{ name, mac, queues: queueCount, ...(linkState ? { linkState } : {}) }],
    ),
    hostDevices: interfaces.flatMap(({ name, queueCount }) =>
      name === undefined || queueCount !== undefined ? [] : [name],
    ),
    guest: interfaces.filter(
      ({ interfaceName, ips }) => interfaceName !== undefined || ips.length > 0,
    ),
    ...(podIps ? { podIps } : {}),
  });
}
