import { type CPUTopology, CPUTopologySchema } from "../domain/cpu.ts";
import { type Machine, MachineSchema } from "../domain/machine.ts";
import {
  array,
  int64,
  map,
  nullable,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
  uint32,
  uint64,
  withRules,
} from "../schema.ts";
import { type Time, TimeSchema } from "../time.ts";
import {
  type ChangedBlockTrackingStatus,
  ChangedBlockTrackingStatusSchema,
} from "./changed-block-tracking-status.ts";
import {
  type VirtualMachineInstanceGuestOSInfo,
  VirtualMachineInstanceGuestOSInfoSchema,
} from "./guest-os-info.ts";
import { type KernelBootStatus, KernelBootStatusSchema } from "./kernel-boot-status.ts";
import { type MemoryStatus, MemoryStatusSchema } from "./memory-status.ts";
import {
  type VirtualMachineInstanceMigrationState,
  VirtualMachineInstanceMigrationStateSchema,
} from "./migration-state.ts";
import {
  type VirtualMachineInstanceNetworkInterface,
  VirtualMachineInstanceNetworkInterfaceSchema,
} from "./network-interface-status.ts";
import {
  type StorageMigratedVolumeInfo,
  StorageMigratedVolumeInfoSchema,
  type VolumeStatus,
  VolumeStatusSchema,
} from "./volume-status.ts";

/** The type of a VMI's condition. */
export type VirtualMachineInstanceConditionType = OpenEnum<
  typeof VirtualMachineInstanceConditionTypeValues
>;
export const VirtualMachineInstanceConditionTypeValues = [
  "Provisioning",
  "Ready",
  "Synchronized",
  "Paused",
  "AgentConnected",
  "AccessCredentialsSynchronized",
  "AgentVersionNotSupported",
  "LiveMigratable",
  "HotVCPUChange",
  "HotMemoryChange",
  "VolumesChange",
  "DataVolumesReady",
  "StorageLiveMigratable",
  "DecentralizedLiveMigrationFailure",
  "MigrationRequired",
  "EvictionRequested",
  "SoftwareEmulation",
] as const;
export const VirtualMachineInstanceConditionTypeSchema: Schema<VirtualMachineInstanceConditionType> =
  openEnum(VirtualMachineInstanceConditionTypeValues);

/** One observation about the VMI. */
export interface VirtualMachineInstanceCondition {
  /** When the condition was last checked; not every controller keeps it up to date. */
  lastProbeTime?: Time | null;
  /** When `status` last changed. */
  lastTransitionTime?: Time | null;
  message?: string;
  /** One word for programs. */
  reason?: string;
  /** `True`, `False` or `Unknown`. */
  status: string;
  type: VirtualMachineInstanceConditionType;
}

export const VirtualMachineInstanceConditionSchema: Schema<VirtualMachineInstanceCondition> =
  object<VirtualMachineInstanceCondition>({
    lastProbeTime: nullable(TimeSchema),
    lastTransitionTime: nullable(TimeSchema),
    message: string,
    reason: string,
    status: required(string),
    type: required(VirtualMachineInstanceConditionTypeSchema),
  });

/** The phase of a VMI. */
export type VirtualMachineInstancePhase = OpenEnum<typeof VirtualMachineInstancePhaseValues>;
export const VirtualMachineInstancePhaseValues = [
  "Pending",
  "Scheduling",
  "Scheduled",
  "Running",
  "Succeeded",
  "Failed",
  "WaitingForSync",
  "Unknown",
] as const;
export const VirtualMachineInstancePhaseSchema: Schema<VirtualMachineInstancePhase> = openEnum(
  VirtualMachineInstancePhaseValues,
);

/** When a phase was entered. */
export interface VirtualMachineInstancePhaseTransitionTimestamp {
  phase?: VirtualMachineInstancePhase;
  phaseTransitionTimestamp?: Time;
}

export const VirtualMachineInstancePhaseTransitionTimestampSchema: Schema<VirtualMachineInstancePhaseTransitionTimestamp> =
  object<VirtualMachineInstancePhaseTransitionTimestamp>({
    phase: VirtualMachineInstancePhaseSchema,
    phaseTransitionTimestamp: TimeSchema,
  });

/** What the scheduler must know about the node's CPUs. */
export interface TopologyHints {
  /** Frequency of the node's TSC, in hertz. */
  tscFrequency?: number;
}

export const TopologyHintsSchema: Schema<TopologyHints> = object<TopologyHints>({
  tscFrequency: int64,
});

/** Whether disks are copied, too. */
export type VirtualMachineInstanceMigrationMethod = OpenEnum<
  typeof VirtualMachineInstanceMigrationMethodValues
>;
export const VirtualMachineInstanceMigrationMethodValues = [
  "BlockMigration",
  "LiveMigration",
] as const;
export const VirtualMachineInstanceMigrationMethodSchema: Schema<VirtualMachineInstanceMigrationMethod> =
  openEnum(VirtualMachineInstanceMigrationMethodValues);

/** The transport between the two sides of a migration. */
export type VirtualMachineInstanceMigrationTransport = OpenEnum<
  typeof VirtualMachineInstanceMigrationTransportValues
>;
export const VirtualMachineInstanceMigrationTransportValues = ["Unix"] as const;
export const VirtualMachineInstanceMigrationTransportSchema: Schema<VirtualMachineInstanceMigrationTransport> =
  openEnum(VirtualMachineInstanceMigrationTransportValues);

/** The QoS class of the Pod, which decides when it is evicted. */
export type PodQOSClass = OpenEnum<typeof PodQOSClassValues>;
export const PodQOSClassValues = ["BestEffort", "Burstable", "Guaranteed"] as const;
export const PodQOSClassSchema: Schema<PodQOSClass> = openEnum(PodQOSClassValues);

/** What is known about the running guest. */
export interface VirtualMachineInstanceStatus {
  /** The context ID (CID) with which the host reaches the guest over VSOCK. */
  VSOCKCID?: number;
  /** Pods that may run the guest, by UID, and their nodes. More than one during a migration. */
  activePods?: Record<string, string>;
  changedBlockTracking?: ChangedBlockTrackingStatus;
  conditions?: VirtualMachineInstanceCondition[];
  /** The present topology, including hotplugged sockets. */
  currentCPUTopology?: CPUTopology;
  /** The node that the VMI has to leave. */
  evacuationNodeName?: string;
  /** `frozen` once a freeze was requested; does not say whether the guest froze. */
  fsFreezeStatus?: string;
  guestOSInfo?: VirtualMachineInstanceGuestOSInfo;
  interfaces?: VirtualMachineInstanceNetworkInterface[];
  kernelBootStatus?: KernelBootStatus;
  launcherContainerImageVersion?: string;
  machine?: Machine;
  memory?: MemoryStatus;
  migratedVolumes?: StorageMigratedVolumeInfo[];
  migrationMethod?: VirtualMachineInstanceMigrationMethod;
  migrationState?: VirtualMachineInstanceMigrationState;
  migrationTransport?: VirtualMachineInstanceMigrationTransport;
  /** Where the guest runs. */
  nodeName?: string;
  phase?: VirtualMachineInstancePhase;
  phaseTransitionTimestamps?: VirtualMachineInstancePhaseTransitionTimestamp[];
  qosClass?: PodQOSClass;
  /** One word on why the VMI is in its phase. */
  reason?: string;
  /** User id of the launcher. */
  runtimeUser?: number;
  /** Of the launcher. */
  selinuxContext?: string;
  topologyHints?: TopologyHints;
  /** The stored spec of the VM that this VMI was created from. */
  virtualMachineRevisionName?: string;
  volumeStatus?: VolumeStatus[];
}

export const VirtualMachineInstanceStatusSchema: Schema<VirtualMachineInstanceStatus> =
  object<VirtualMachineInstanceStatus>({
    VSOCKCID: withRules(uint32, { minimum: 0, maximum: 4_294_967_295 }),
    activePods: map(string),
    changedBlockTracking: ChangedBlockTrackingStatusSchema,
    conditions: array(VirtualMachineInstanceConditionSchema),
    currentCPUTopology: CPUTopologySchema,
    evacuationNodeName: string,
    fsFreezeStatus: string,
    guestOSInfo: VirtualMachineInstanceGuestOSInfoSchema,
    interfaces: array(VirtualMachineInstanceNetworkInterfaceSchema),
    kernelBootStatus: KernelBootStatusSchema,
    launcherContainerImageVersion: string,
    machine: MachineSchema,
    memory: MemoryStatusSchema,
    migratedVolumes: array(StorageMigratedVolumeInfoSchema, { listType: "atomic" }),
    migrationMethod: VirtualMachineInstanceMigrationMethodSchema,
    migrationState: VirtualMachineInstanceMigrationStateSchema,
    migrationTransport: VirtualMachineInstanceMigrationTransportSchema,
    nodeName: string,
    phase: VirtualMachineInstancePhaseSchema,
    phaseTransitionTimestamps: array(VirtualMachineInstancePhaseTransitionTimestampSchema, {
      listType: "atomic",
    }),
    qosClass: PodQOSClassSchema,
    reason: string,
    runtimeUser: uint64,
    selinuxContext: string,
    topologyHints: TopologyHintsSchema,
    virtualMachineRevisionName: string,
    volumeStatus: array(VolumeStatusSchema, { listType: "atomic" }),
  });
