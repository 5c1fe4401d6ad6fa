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

/** What an instance's condition is about. */
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

/** One observation about the instance. */
export interface VirtualMachineInstanceCondition {
  /** When the condition was last looked at; not kept up to date by every controller. */
  lastProbeTime?: Time | null;
  /** When `status` last changed. */
  lastTransitionTime?: Time | null;
  message?: string;
  /** One word, for programs. */
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

/** Where an instance is in its life. */
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

/** What the scheduler must know of the node's processors. */
export interface TopologyHints {
  /** Of the node's time stamp counter, in hertz. */
  tscFrequency?: number;
}

export const TopologyHintsSchema: Schema<TopologyHints> = object<TopologyHints>({
  tscFrequency: int64,
});

/** Whether disks are copied too. */
export type VirtualMachineInstanceMigrationMethod = OpenEnum<
  typeof VirtualMachineInstanceMigrationMethodValues
>;
export const VirtualMachineInstanceMigrationMethodValues = [
  "BlockMigration",
  "LiveMigration",
] as const;
export const VirtualMachineInstanceMigrationMethodSchema: Schema<VirtualMachineInstanceMigrationMethod> =
  openEnum(VirtualMachineInstanceMigrationMethodValues);

/** What the two sides of a migration speak over. */
export type VirtualMachineInstanceMigrationTransport = OpenEnum<
  typeof VirtualMachineInstanceMigrationTransportValues
>;
export const VirtualMachineInstanceMigrationTransportValues = ["Unix"] as const;
export const VirtualMachineInstanceMigrationTransportSchema: Schema<VirtualMachineInstanceMigrationTransport> =
  openEnum(VirtualMachineInstanceMigrationTransportValues);

/** How safe a Pod is from eviction. */
export type PodQOSClass = OpenEnum<typeof PodQOSClassValues>;
export const PodQOSClassValues = ["BestEffort", "Burstable", "Guaranteed"] as const;
export const PodQOSClassSchema: Schema<PodQOSClass> = openEnum(PodQOSClassValues);

/** What is known of the running guest. */
export interface VirtualMachineInstanceStatus {
  /** The number by which the host reaches the guest's sockets. */
  VSOCKCID?: number;
  /** Pods that may run the guest, by their UID, and their nodes. More than one while it migrates. */
  activePods?: Record<string, string>;
  changedBlockTracking?: ChangedBlockTrackingStatus;
  conditions?: VirtualMachineInstanceCondition[];
  /** What the guest has now, plugged-in sockets included. */
  currentCPUTopology?: CPUTopology;
  /** The node that the instance has to leave. */
  evacuationNodeName?: string;
  /** `frozen` once a freeze was asked for; says nothing of whether the guest did freeze. */
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
  /** One word on why the phase is what it is. */
  reason?: string;
  /** User id of the launcher. */
  runtimeUser?: number;
  /** Of the launcher. */
  selinuxContext?: string;
  topologyHints?: TopologyHints;
  /** The recorded spec of the VM that this instance was made from. */
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
