import {
  array,
  boolean,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
} from "../schema.ts";
import { type Time, TimeSchema } from "../time.ts";

/** A volume in a backup. */
export interface BackupVolumeInfo {
  dataEndpoint?: string;
  /** Device name in the guest. */
  diskTarget: string;
  mapEndpoint?: string;
  volumeName: string;
}

export const BackupVolumeInfoSchema: Schema<BackupVolumeInfo> = object<BackupVolumeInfo>({
  dataEndpoint: string,
  diskTarget: required(string),
  mapEndpoint: string,
  volumeName: required(string),
});

/** The running or last backup. */
export interface VirtualMachineInstanceBackupStatus {
  backupMsg?: string;
  backupName?: string;
  checkpointName?: string;
  completed?: boolean;
  endTimestamp?: Time;
  failed?: boolean;
  quiesceStatus?: string;
  startTimestamp?: Time;
  volumes?: BackupVolumeInfo[];
}

export const VirtualMachineInstanceBackupStatusSchema: Schema<VirtualMachineInstanceBackupStatus> =
  object<VirtualMachineInstanceBackupStatus>(
    {
      backupMsg: string,
      backupName: string,
      checkpointName: string,
      completed: boolean,
      endTimestamp: TimeSchema,
      failed: boolean,
      quiesceStatus: string,
      startTimestamp: TimeSchema,
      volumes: array(BackupVolumeInfoSchema, { listType: "atomic" }),
    },
    { nullable: true },
  );

/** Whether changed blocks are recorded. */
export type ChangedBlockTrackingState = OpenEnum<typeof ChangedBlockTrackingStateValues>;
export const ChangedBlockTrackingStateValues = [
  "PendingRestart",
  "Initializing",
  "Enabled",
  "Disabled",
  "IncrementalBackupFeatureGateDisabled",
] as const;
export const ChangedBlockTrackingStateSchema: Schema<ChangedBlockTrackingState> = openEnum(
  ChangedBlockTrackingStateValues,
);

/** Whether changed blocks are recorded, for incremental backups. */
export interface ChangedBlockTrackingStatus {
  /** The running or last backup. */
  backupStatus?: VirtualMachineInstanceBackupStatus;
  state: ChangedBlockTrackingState;
}

export const ChangedBlockTrackingStatusSchema: Schema<ChangedBlockTrackingStatus> =
  object<ChangedBlockTrackingStatus>(
    {
      backupStatus: VirtualMachineInstanceBackupStatusSchema,
      state: required(ChangedBlockTrackingStateSchema),
    },
    { nullable: true },
  );
