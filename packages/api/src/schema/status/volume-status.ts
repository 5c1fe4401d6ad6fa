import {
  type PersistentVolumeMode,
  PersistentVolumeModeSchema,
} from "../core/persistent-volume-claim.ts";
import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import {
  array,
  boolean,
  int64,
  map,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
  uint32,
  withRules,
} from "../schema.ts";
import { type Time, TimeSchema } from "../time.ts";

/** The image that a container disk was started from. */
export interface ContainerDiskInfo {
  /** CRC-32 of the image. */
  checksum?: number;
}

export const ContainerDiskInfoSchema: Schema<ContainerDiskInfo> = object<ContainerDiskInfo>({
  checksum: withRules(uint32, { minimum: 0, maximum: 4_294_967_295 }),
});

/** The Pod that attaches a volume to the node. */
export interface HotplugVolumeStatus {
  attachPodName?: string;
  attachPodUID?: string;
}

export const HotplugVolumeStatusSchema: Schema<HotplugVolumeStatus> = object<HotplugVolumeStatus>({
  attachPodName: string,
  attachPodUID: string,
});

/** The memory dump in a volume. */
export interface DomainMemoryDumpInfo {
  claimName?: string;
  endTimestamp?: Time;
  startTimestamp?: Time;
  targetFileName?: string;
}

export const DomainMemoryDumpInfoSchema: Schema<DomainMemoryDumpInfo> =
  object<DomainMemoryDumpInfo>({
    claimName: string,
    endTimestamp: TimeSchema,
    startTimestamp: TimeSchema,
    targetFileName: string,
  });

/** The claim behind a volume, as it was found. */
export interface PersistentVolumeClaimInfo {
  accessModes?: string[];
  /** The granted capacity. */
  capacity?: Record<string, QuantityInput>;
  claimName?: string;
  /** Share of the file system that an image must leave free, from 0 to 1. */
  filesystemOverhead?: string;
  preallocated?: boolean;
  /** The requested amount. */
  requests?: Record<string, QuantityInput>;
  volumeMode?: PersistentVolumeMode;
}

export const PersistentVolumeClaimInfoSchema: Schema<PersistentVolumeClaimInfo> =
  object<PersistentVolumeClaimInfo>({
    accessModes: array(string, { listType: "atomic" }),
    capacity: map(QuantityInputSchema),
    claimName: string,
    filesystemOverhead: withRules(string, { pattern: "^(0(?:\\.\\d{1,3})?|1)$" }),
    preallocated: boolean,
    requests: map(QuantityInputSchema),
    volumeMode: PersistentVolumeModeSchema,
  });

/** The progress of attaching a volume. */
export type VolumePhase = OpenEnum<typeof VolumePhaseValues>;
export const VolumePhaseValues = [
  "Pending",
  "Bound",
  "AttachedToNode",
  "MountedToPod",
  "Ready",
  "Detaching",
  "UnMountedFromPod",
  "MemoryDumpCompleted",
  "MemoryDumpInProgress",
  "MemoryDumpFailed",
] as const;
export const VolumePhaseSchema: Schema<VolumePhase> = openEnum(VolumePhaseValues);

/** The present state of a volume. */
export interface VolumeStatus {
  containerDiskVolume?: ContainerDiskInfo;
  hotplugVolume?: HotplugVolumeStatus;
  memoryDumpVolume?: DomainMemoryDumpInfo;
  message?: string;
  name: string;
  persistentVolumeClaimInfo?: PersistentVolumeClaimInfo;
  phase?: VolumePhase;
  reason?: string;
  /** In bytes. */
  size?: number;
  /** Device name in the guest, such as `vda`. */
  target: string;
}

export const VolumeStatusSchema: Schema<VolumeStatus> = object<VolumeStatus>({
  containerDiskVolume: ContainerDiskInfoSchema,
  hotplugVolume: HotplugVolumeStatusSchema,
  memoryDumpVolume: DomainMemoryDumpInfoSchema,
  message: string,
  name: required(string),
  persistentVolumeClaimInfo: PersistentVolumeClaimInfoSchema,
  phase: VolumePhaseSchema,
  reason: string,
  size: int64,
  target: required(string),
});

/** A volume whose content moves to another claim. */
export interface StorageMigratedVolumeInfo {
  destinationPVCInfo?: PersistentVolumeClaimInfo;
  sourcePVCInfo?: PersistentVolumeClaimInfo;
  volumeName: string;
}

export const StorageMigratedVolumeInfoSchema: Schema<StorageMigratedVolumeInfo> =
  object<StorageMigratedVolumeInfo>({
    destinationPVCInfo: PersistentVolumeClaimInfoSchema,
    sourcePVCInfo: PersistentVolumeClaimInfoSchema,
    volumeName: required(string),
  });
