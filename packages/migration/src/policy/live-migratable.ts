import { evictionDecision } from "@virtkit/api/admission";
import type { ClusterConfig } from "@virtkit/api/config";
import { networkMigrationObstacle } from "@virtkit/api/network";
import type { VirtualMachineInstance, VirtualMachineInstanceCondition } from "@virtkit/api/schema";
import { isSet } from "@virtkit/api/shape";
import {
  conditionsOf,
  findCondition,
  type notMigratableReasons,
  type PlannedEvent,
  removeCondition,
  setCondition,
} from "@virtkit/api/status";
import { guardVmi } from "./guard-vmi.ts";
import { volumeMigratability } from "./volume-migratability.ts";

/** Why a VMI cannot be migrated live. */
export interface MigrationObstacle {
  readonly reason: (typeof notMigratableReasons)[number];
  readonly message: string;
  /** Whether it matters only for moving the VMI, only for moving its volumes along, or for both. */
  readonly concerns: "vmi" | "volumes" | "both";
}

/** What a node agent reports about a VMI's ability to move. */
export interface Migratability {
  /** All conditions of the VMI, with `LiveMigratable` and `StorageLiveMigratable` as they are now. */
  readonly conditions: readonly VirtualMachineInstanceCondition[];
  readonly migrationMethod: "LiveMigration" | "BlockMigration";
  /** For the user: a drain would have to migrate this VMI, but cannot. */
  readonly events: readonly PlannedEvent[];
}

/** What the answer depends on besides the VMI. */
export interface MigratabilityFacts {
  readonly config: ClusterConfig;
  /** The node's CPU model that a `host-model` guest gets; empty if the node does not report it. */
  readonly hostCpuModel: string;
}

/**
 * Whether a VMI can be moved to another node while it runs, and how. The first obstacle is the reason
 * of `LiveMigratable`; `StorageLiveMigratable` names all. A condition that says the same as before keeps
 * its place. A VMI with another shape gives a `MigrationError` with the `path` of the field.
 *
 * @example
 * ```ts
 * const { conditions } = liveMigratable(vmi, { config: clusterConfig(), hostCpuModel: "Skylake" });
 * ```
 */
export function liveMigratable(
  vmi: VirtualMachineInstance,
  facts: MigratabilityFacts,
): Migratability {
  return guardVmi(vmi, () => {
    const volumes = volumeMigratability(vmi);
    const obstacles = migrationObstacles(vmi, facts);
    const ofVmi: readonly MigrationObstacle[] = [
      ...obstacles.filter(({ concerns }) => concerns !== "volumes"),
      ...(volumes.obstacle
        ? [
            {
              reason: "DisksNotLiveMigratable",
              message: volumes.obstacle,
              concerns: "vmi",
            } as const,
          ]
        : []),
    ];
    const live = liveCondition(ofVmi[0]);
    const storage = storageCondition(obstacles.filter(({ concerns }) => concerns !== "vmi"));
    const conditions = setCondition(replaced(conditionsOf(vmi), live), storage);
    const status = { ...vmi.status, conditions: [...conditions] };
    const moves = evictionDecision({ ...vmi, status }, facts.config).migratableOnEviction;
    return {
      conditions,
      migrationMethod: volumes.copies ? "BlockMigration" : "LiveMigration",
      events: moves && ofVmi[0] ? [cannotMove(ofVmi[0].message)] : [],
    };
  });
}

/** What prevents a VMI from moving besides its volumes, in the order in which it is reported. */
export function migrationObstacles(
  vmi: VirtualMachineInstance,
  { config, hostCpuModel }: MigratabilityFacts,
): readonly MigrationObstacle[] {
  const { cpu, devices, features, launchSecurity } = vmi.spec.domain;
  const network = networkMigrationObstacle(vmi, config);
  const device = hostDeviceObstacle(vmi, config);
  const found: readonly (MigrationObstacle | false)[] = [
    network !== undefined && both("InterfaceNotLiveMigratable", network),
    cpu?.model === "host-model" &&
      hostCpuModel === "" &&
      both("CPUModeLiveMigratable", "the node does not report its CPU model"),
    device !== undefined && both("HostDeviceNotLiveMigratable", device),
    securityObstacle(launchSecurity),
    isSet(launchSecurity) &&
      vmi.spec.architecture === "s390x" &&
      only("vmi", "SecureExecutionNotLiveMigratable", "the guest uses Secure Execution"),
    (devices?.disks ?? []).some(({ lun }) => lun?.reservation) &&
      only(
        "volumes",
        "PersistentReservationNotLiveMigratable",
        "a disk uses persistent SCSI reservations",
      ),
    needsTscFrequency(vmi) &&
      both(
        "NoTSCFrequencyNotLiveMigratable",
        "the guest needs a TSC frequency for Hyper-V reenlightenment, and its nodes report none",
      ),
    features?.hypervPassthrough?.enabled === true &&
      both("HypervPassthroughNotLiveMigratable", "the guest uses Hyper-V passthrough"),
  ];
  return found.filter((obstacle) => obstacle !== false);
}

function both(reason: MigrationObstacle["reason"], message: string): MigrationObstacle {
  return { reason, message, concerns: "both" };
}

function only(
  concerns: MigrationObstacle["concerns"],
  reason: MigrationObstacle["reason"],
  message: string,
): MigrationObstacle {
  return { reason, message, concerns };
}

function securityObstacle(
  security: VirtualMachineInstance["spec"]["domain"]["launchSecurity"],
): MigrationObstacle | false {
  if (isSet(security?.sev) || isSet(security?.snp)) {
    return both("SEVNotLiveMigratable", "the guest's memory is encrypted by SEV");
  }
  return (
    isSet(security?.tdx) && both("TDXNotLiveMigratable", "the guest's memory is encrypted by TDX")
  );
}

function hostDeviceObstacle(
  { spec }: VirtualMachineInstance,
  config: ClusterConfig,
): string | undefined {
  const { hostDevices = [], gpus = [] } = spec.domain.devices ?? {};
  if (hostDevices.length > 0) return "the guest has a host device";
  const [gpu, second] = gpus;
  if (!gpu) return undefined;
  if (second) return "the guest has more than one GPU";
  if (!config.gate("VGPULiveMigration")) {
    return "the guest has a GPU, and the feature gate VGPULiveMigration is off";
  }
  const mediated = config.configuration.permittedHostDevices?.mediatedDevices ?? [];
  const isMediated = mediated.some(({ resourceName }) => resourceName === gpu.deviceName);
  return isMediated ? undefined : "the guest has a GPU that is not a mediated device";
}

/** A guest with `invtsc` needs the frequency to start; that is reported elsewhere. */
function needsTscFrequency({ spec, status }: VirtualMachineInstance): boolean {
  const { cpu, features } = spec.domain;
  if ((status?.topologyHints?.tscFrequency ?? 0) > 0) return false;
  const starts = (cpu?.features ?? []).some(
    ({ name, policy }) => name === "invtsc" && (policy === "require" || policy === "force"),
  );
  return !starts && features?.hyperv?.reenlightenment?.enabled === true;
}

function liveCondition(obstacle: MigrationObstacle | undefined): VirtualMachineInstanceCondition {
  if (!obstacle) return { type: "LiveMigratable", status: "True" };
  const { reason, message } = obstacle;
  return { type: "LiveMigratable", status: "False", reason, message };
}

function storageCondition(
  obstacles: readonly MigrationObstacle[],
): VirtualMachineInstanceCondition {
  if (obstacles.length === 0) return { type: "StorageLiveMigratable", status: "True" };
  const message = obstacles.map(({ reason, message }) => `${reason}: ${message}`).join(", ");
  return { type: "StorageLiveMigratable", status: "False", reason: "NotMigratable", message };
}

/** A changed condition moves to the end of the list, as in KubeVirt. */
function replaced(
  conditions: readonly VirtualMachineInstanceCondition[],
  condition: VirtualMachineInstanceCondition,
): readonly VirtualMachineInstanceCondition[] {
  const known = findCondition(conditions, condition.type);
  const isSame =
    known?.status === condition.status &&
    (known.reason ?? "") === (condition.reason ?? "") &&
    (known.message ?? "") === (condition.message ?? "");
  return isSame ? conditions : [...removeCondition(conditions, condition.type), condition];
}

function cannotMove(message: string): PlannedEvent {
  return {
    type: "Warning",
    reason: "Migrated",
    message: `a drain would have to migrate this VMI, which is not possible: ${message}`,
  };
}
