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

/** What a VM's condition is about. */
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
  /** When the condition was last looked at; not kept up to date by every controller. */
  lastProbeTime?: Time | null;
  /** When `status` last changed. */
  lastTransitionTime?: Time | null;
  message?: string;
  /** One word, for programs. */
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

/** How far a memory dump has come. */
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

/** A memory dump that was asked for, and its progress. */
export interface VirtualMachineMemoryDumpRequest {
  claimName: string;
  endTimestamp?: Time;
  /** Of the dump, on the claim. */
  fileName?: string;
  message?: string;
  phase: MemoryDumpPhase;
  /** The claim is to be let go of. */
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

/** Failed starts in a row, and when the next one is tried. */
export interface VirtualMachineStartFailure {
  /** The delay before the next try grows with it. */
  consecutiveFailCount?: number;
  /** So that no failure is counted twice. */
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

/** What was asked for. */
export type StateChangeRequestAction = OpenEnum<typeof StateChangeRequestActionValues>;
export const StateChangeRequestActionValues = ["Start", "Stop"] as const;
export const StateChangeRequestActionSchema: Schema<StateChangeRequestAction> = openEnum(
  StateChangeRequestActionValues,
);

/** A start or stop that was asked for and not yet carried out. */
export interface VirtualMachineStateChangeRequest {
  action: StateChangeRequestAction;
  data?: Record<string, string>;
  /** The instance that is to be stopped. */
  uid?: string;
}

export const VirtualMachineStateChangeRequestSchema: Schema<VirtualMachineStateChangeRequest> =
  object<VirtualMachineStateChangeRequest>({
    action: required(StateChangeRequestActionSchema),
    data: map(string),
    uid: string,
  });

/** A volume that was asked to be attached or detached; one of the two is set. */
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

/** What is known of the VM. */
export interface VirtualMachineStatus {
  changedBlockTracking?: ChangedBlockTrackingStatus;
  conditions?: VirtualMachineCondition[];
  /** The instance exists. */
  created?: boolean;
  /** Generation that the running instance should be made from. */
  desiredGeneration?: number;
  instancetypeRef?: InstancetypeStatusRef;
  memoryDumpRequest?: VirtualMachineMemoryDumpRequest;
  /** Generation that the running instance was made from. */
  observedGeneration?: number;
  preferenceRef?: InstancetypeStatusRef;
  printableStatus?: VirtualMachinePrintableStatus;
  /** The instance runs and its probes pass. */
  ready?: boolean;
  /** Name of the restore that keeps the VM stopped. */
  restoreInProgress?: string;
  /** The strategy that was last acted on. */
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
