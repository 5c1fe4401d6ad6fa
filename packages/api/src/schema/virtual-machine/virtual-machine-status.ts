import {
  type AddVolumeOptions,
  AddVolumeOptionsSchema,
  type RemoveVolumeOptions,
  RemoveVolumeOptionsSchema,
} from "../instance/hotplug-volume.ts";
import {
  array,
  boolean,
  int,
  int64,
  map,
  nullable,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
  withRules,
} from "../schema.ts";
import {
  type ChangedBlockTrackingStatus,
  ChangedBlockTrackingStatusSchema,
} from "../status/changed-block-tracking-status.ts";
import {
  type StorageMigratedVolumeInfo,
  StorageMigratedVolumeInfoSchema,
} from "../status/volume-status.ts";
import { type Time, TimeSchema } from "../time.ts";
import { type InstancetypeStatusRef, InstancetypeStatusRefSchema } from "./instancetype-matcher.ts";
import { type VirtualMachineRunStrategy, VirtualMachineRunStrategySchema } from "./run-strategy.ts";

/** The type of a VM's condition. */
export type VirtualMachineConditionType = OpenEnum<typeof VirtualMachineConditionTypeValues>;
export const VirtualMachineConditionTypeValues = [
  "Failure",
  "Ready",
  "Paused",
  "RestartRequired",
  "ManualRecoveryRequired",
] as const;
export const VirtualMachineConditionTypeSchema: Schema<VirtualMachineConditionType> = openEnum(
  VirtualMachineConditionTypeValues,
);

/** One observation about the VM. */
export interface VirtualMachineCondition {
  /** When the condition was last checked; not every controller keeps it up to date. */
  lastProbeTime?: Time | null;
  /** When `status` last changed. */
  lastTransitionTime?: Time | null;
  message?: string;
  /** One word for programs. */
  reason?: string;
  /** `True`, `False` or `Unknown`. */
  status: string;
  type: VirtualMachineConditionType;
}

export const VirtualMachineConditionSchema: Schema<VirtualMachineCondition> =
  object<VirtualMachineCondition>({
    lastProbeTime: nullable(TimeSchema),
    lastTransitionTime: nullable(TimeSchema),
    message: string,
    reason: string,
    status: required(string),
    type: required(VirtualMachineConditionTypeSchema),
  });

/** The progress of a memory dump. */
export type MemoryDumpPhase = OpenEnum<typeof MemoryDumpPhaseValues>;
export const MemoryDumpPhaseValues = [
  "Associating",
  "InProgress",
  "Unmounting",
  "Completed",
  "Dissociating",
  "Failed",
] as const;
export const MemoryDumpPhaseSchema: Schema<MemoryDumpPhase> = openEnum(MemoryDumpPhaseValues);

/** A requested memory dump, and its progress. */
export interface VirtualMachineMemoryDumpRequest {
  claimName: string;
  endTimestamp?: Time;
  /** File name of the dump on the claim. */
  fileName?: string;
  message?: string;
  phase: MemoryDumpPhase;
  /** Whether the claim should be released. */
  remove?: boolean;
  startTimestamp?: Time;
}

export const VirtualMachineMemoryDumpRequestSchema: Schema<VirtualMachineMemoryDumpRequest> =
  object<VirtualMachineMemoryDumpRequest>(
    {
      claimName: required(string),
      endTimestamp: TimeSchema,
      fileName: string,
      message: string,
      phase: required(MemoryDumpPhaseSchema),
      remove: boolean,
      startTimestamp: TimeSchema,
    },
    { nullable: true },
  );

/** Failed starts in a row, and the time of the next attempt. */
export interface VirtualMachineStartFailure {
  /** The delay before the next attempt grows with it. */
  consecutiveFailCount?: number;
  /** Keeps a failure from being counted twice. */
  lastFailedVMIUID?: string;
  retryAfterTimestamp?: Time;
}

export const VirtualMachineStartFailureSchema: Schema<VirtualMachineStartFailure> =
  object<VirtualMachineStartFailure>(
    {
      consecutiveFailCount: int,
      lastFailedVMIUID: string,
      retryAfterTimestamp: TimeSchema,
    },
    { nullable: true },
  );

/** The requested action. */
export type StateChangeRequestAction = OpenEnum<typeof StateChangeRequestActionValues>;
export const StateChangeRequestActionValues = ["Start", "Stop"] as const;
export const StateChangeRequestActionSchema: Schema<StateChangeRequestAction> = openEnum(
  StateChangeRequestActionValues,
);

/** A requested start or stop that has not been carried out yet. */
export interface VirtualMachineStateChangeRequest {
  action: StateChangeRequestAction;
  data?: Record<string, string>;
  /** The VMI to stop. */
  uid?: string;
}

export const VirtualMachineStateChangeRequestSchema: Schema<VirtualMachineStateChangeRequest> =
  object<VirtualMachineStateChangeRequest>({
    action: required(StateChangeRequestActionSchema),
    data: map(string),
    uid: string,
  });

/** A volume to attach or detach; one of the two is set. */
export interface VirtualMachineVolumeRequest {
  addVolumeOptions?: AddVolumeOptions;
  removeVolumeOptions?: RemoveVolumeOptions;
}

export const VirtualMachineVolumeRequestSchema: Schema<VirtualMachineVolumeRequest> =
  object<VirtualMachineVolumeRequest>({
    addVolumeOptions: AddVolumeOptionsSchema,
    removeVolumeOptions: RemoveVolumeOptionsSchema,
  });

/** Whether a volume can be part of a snapshot. */
export interface VolumeSnapshotStatus {
  enabled: boolean;
  name: string;
  reason?: string;
}

export const VolumeSnapshotStatusSchema: Schema<VolumeSnapshotStatus> =
  object<VolumeSnapshotStatus>({
    enabled: required(boolean),
    name: required(string),
    reason: string,
  });

/** Volumes whose content moves to other claims. */
export interface VolumeMigrationState {
  migratedVolumes?: StorageMigratedVolumeInfo[];
}

export const VolumeMigrationStateSchema: Schema<VolumeMigrationState> =
  object<VolumeMigrationState>({
    migratedVolumes: array(StorageMigratedVolumeInfoSchema, { listType: "atomic" }),
  });

/** Progress of a change of volumes. */
export interface VolumeUpdateState {
  volumeMigrationState?: VolumeMigrationState;
}

export const VolumeUpdateStateSchema: Schema<VolumeUpdateState> = object<VolumeUpdateState>({
  volumeMigrationState: VolumeMigrationStateSchema,
});

/** The VM's state in one word, for people. */
export type VirtualMachinePrintableStatus = OpenEnum<typeof VirtualMachinePrintableStatusValues>;
export const VirtualMachinePrintableStatusValues = [
  "Stopped",
  "Provisioning",
  "Starting",
  "Running",
  "Paused",
  "Stopping",
  "Terminating",
  "CrashLoopBackOff",
  "Migrating",
  "Unknown",
  "ErrorUnschedulable",
  "ErrImagePull",
  "ImagePullBackOff",
  "ErrorPvcNotFound",
  "DataVolumeError",
  "WaitingForVolumeBinding",
  "WaitingForReceiver",
] as const;
export const VirtualMachinePrintableStatusSchema: Schema<VirtualMachinePrintableStatus> = openEnum(
  VirtualMachinePrintableStatusValues,
);

/** What is known about the VM. */
export interface VirtualMachineStatus {
  changedBlockTracking?: ChangedBlockTrackingStatus;
  conditions?: VirtualMachineCondition[];
  /** Whether the VMI exists. */
  created?: boolean;
  /** Generation that the running VMI should have been created from. */
  desiredGeneration?: number;
  instancetypeRef?: InstancetypeStatusRef;
  memoryDumpRequest?: VirtualMachineMemoryDumpRequest;
  /** Generation that the running VMI was created from. */
  observedGeneration?: number;
  preferenceRef?: InstancetypeStatusRef;
  printableStatus?: VirtualMachinePrintableStatus;
  /** Whether the VMI runs and its probes pass. */
  ready?: boolean;
  /** Name of the restore that keeps the VM stopped. */
  restoreInProgress?: string;
  /** The last run strategy that was acted on. */
  runStrategy?: VirtualMachineRunStrategy;
  /** Name of the snapshot being taken. */
  snapshotInProgress?: string;
  startFailure?: VirtualMachineStartFailure;
  stateChangeRequests?: VirtualMachineStateChangeRequest[];
  volumeRequests?: VirtualMachineVolumeRequest[];
  volumeSnapshotStatuses?: VolumeSnapshotStatus[];
  volumeUpdateState?: VolumeUpdateState;
}

export const VirtualMachineStatusSchema: Schema<VirtualMachineStatus> =
  object<VirtualMachineStatus>({
    changedBlockTracking: ChangedBlockTrackingStatusSchema,
    conditions: array(VirtualMachineConditionSchema),
    created: boolean,
    desiredGeneration: int64,
    instancetypeRef: InstancetypeStatusRefSchema,
    memoryDumpRequest: VirtualMachineMemoryDumpRequestSchema,
    observedGeneration: int64,
    preferenceRef: InstancetypeStatusRefSchema,
    printableStatus: withRules(VirtualMachinePrintableStatusSchema, { default: "Stopped" }),
    ready: boolean,
    restoreInProgress: string,
    runStrategy: VirtualMachineRunStrategySchema,
    snapshotInProgress: string,
    startFailure: VirtualMachineStartFailureSchema,
    stateChangeRequests: array(VirtualMachineStateChangeRequestSchema),
    volumeRequests: array(VirtualMachineVolumeRequestSchema, { listType: "atomic" }),
    volumeSnapshotStatuses: array(VolumeSnapshotStatusSchema),
    volumeUpdateState: VolumeUpdateStateSchema,
  });
