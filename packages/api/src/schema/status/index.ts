export {
  type BackupVolumeInfo,
  BackupVolumeInfoSchema,
  type ChangedBlockTrackingState,
  ChangedBlockTrackingStateSchema,
  ChangedBlockTrackingStateValues,
  type ChangedBlockTrackingStatus,
  ChangedBlockTrackingStatusSchema,
  type VirtualMachineInstanceBackupStatus,
  VirtualMachineInstanceBackupStatusSchema,
} from "./changed-block-tracking-status.ts";
export {
  type VirtualMachineInstanceGuestOSInfo,
  VirtualMachineInstanceGuestOSInfoSchema,
} from "./guest-os-info.ts";
export {
  type InitrdInfo,
  InitrdInfoSchema,
  type KernelBootStatus,
  KernelBootStatusSchema,
  type KernelInfo,
  KernelInfoSchema,
} from "./kernel-boot-status.ts";
export { type MemoryStatus, MemoryStatusSchema } from "./memory-status.ts";
export {
  type StorageMigratedVolumeInfo,
  StorageMigratedVolumeInfoSchema,
} from "./migrated-volume.ts";
export {
  type MigrationAbortStatus,
  MigrationAbortStatusSchema,
  MigrationAbortStatusValues,
  type MigrationMode,
  MigrationModeSchema,
  MigrationModeValues,
  type MigrationNetworkType,
  MigrationNetworkTypeSchema,
  MigrationNetworkTypeValues,
  type VirtualMachineInstanceMigrationSourceState,
  VirtualMachineInstanceMigrationSourceStateSchema,
  type VirtualMachineInstanceMigrationState,
  VirtualMachineInstanceMigrationStateSchema,
  type VirtualMachineInstanceMigrationTargetState,
  VirtualMachineInstanceMigrationTargetStateSchema,
} from "./migration-state.ts";
export {
  type VirtualMachineInstanceNetworkInterface,
  VirtualMachineInstanceNetworkInterfaceSchema,
} from "./network-interface-status.ts";
export {
  type PodQOSClass,
  PodQOSClassSchema,
  PodQOSClassValues,
  type TopologyHints,
  TopologyHintsSchema,
  type VirtualMachineInstanceCondition,
  VirtualMachineInstanceConditionSchema,
  type VirtualMachineInstanceConditionType,
  VirtualMachineInstanceConditionTypeSchema,
  VirtualMachineInstanceConditionTypeValues,
  type VirtualMachineInstanceMigrationMethod,
  VirtualMachineInstanceMigrationMethodSchema,
  VirtualMachineInstanceMigrationMethodValues,
  type VirtualMachineInstanceMigrationTransport,
  VirtualMachineInstanceMigrationTransportSchema,
  VirtualMachineInstanceMigrationTransportValues,
  type VirtualMachineInstancePhase,
  VirtualMachineInstancePhaseSchema,
  type VirtualMachineInstancePhaseTransitionTimestamp,
  VirtualMachineInstancePhaseTransitionTimestampSchema,
  VirtualMachineInstancePhaseValues,
  type VirtualMachineInstanceStatus,
  VirtualMachineInstanceStatusSchema,
} from "./virtual-machine-instance-status.ts";
export {
  type ContainerDiskInfo,
  ContainerDiskInfoSchema,
  type DomainMemoryDumpInfo,
  DomainMemoryDumpInfoSchema,
  type HotplugVolumeStatus,
  HotplugVolumeStatusSchema,
  type PersistentVolumeClaimInfo,
  PersistentVolumeClaimInfoSchema,
  type VolumePhase,
  VolumePhaseSchema,
  VolumePhaseValues,
  type VolumeStatus,
  VolumeStatusSchema,
} from "./volume-status.ts";
