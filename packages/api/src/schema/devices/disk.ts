import { type FeatureState, FeatureStateSchema } from "../domain/feature-state.ts";
import {
  boolean,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
  uint,
} from "../schema.ts";

/** Explicit sizes, in bytes. */
export interface CustomBlockSize {
  /** The smallest amount that can be discarded. */
  discardGranularity?: number;
  logical?: number;
  physical?: number;
}

export const CustomBlockSizeSchema: Schema<CustomBlockSize> = object<CustomBlockSize>({
  discardGranularity: uint,
  logical: uint,
  physical: uint,
});

/** The block sizes that the disk reports. */
export interface BlockSize {
  custom?: CustomBlockSize;
  /** Uses the sizes of the volume. */
  matchVolume?: FeatureState;
}

export const BlockSizeSchema: Schema<BlockSize> = object<BlockSize>({
  custom: CustomBlockSizeSchema,
  matchVolume: FeatureStateSchema,
});

/** Bus of a disk. */
export type DiskBus = OpenEnum<typeof DiskBusValues>;
export const DiskBusValues = ["scsi", "sata", "virtio", "usb"] as const;
export const DiskBusSchema: Schema<DiskBus> = openEnum(DiskBusValues);

/** Whether the drive's tray is open. */
export type TrayState = OpenEnum<typeof TrayStateValues>;
export const TrayStateValues = ["open", "closed"] as const;
export const TrayStateSchema: Schema<TrayState> = openEnum(TrayStateValues);

/** A CD-ROM drive; without a volume it is empty. */
export interface CDRomTarget {
  bus?: DiskBus;
  /** On if absent. */
  readonly?: boolean;
  tray?: TrayState;
}

export const CDRomTargetSchema: Schema<CDRomTarget> = object<CDRomTarget>({
  bus: DiskBusSchema,
  readonly: boolean,
  tray: TrayStateSchema,
});

/** An ordinary disk. */
export interface DiskTarget {
  bus?: DiskBus;
  /** For example `0000:81:01.10`. */
  pciAddress?: string;
  readonly?: boolean;
}

export const DiskTargetSchema: Schema<DiskTarget> = object<DiskTarget>({
  bus: DiskBusSchema,
  pciAddress: string,
  readonly: boolean,
});

/** A disk that passes SCSI commands through to the storage. */
export interface LunTarget {
  bus?: DiskBus;
  readonly?: boolean;
  /** Supports SCSI persistent reservations. */
  reservation?: boolean;
}

export const LunTargetSchema: Schema<LunTarget> = object<LunTarget>({
  bus: DiskBusSchema,
  readonly: boolean,
  reservation: boolean,
});

/** How the host caches a disk. */
export type DriverCache = OpenEnum<typeof DriverCacheValues>;
export const DriverCacheValues = ["none", "writethrough", "writeback"] as const;
export const DriverCacheSchema: Schema<DriverCache> = openEnum(DriverCacheValues);

/** What the guest sees of a failed read or write. */
export type DiskErrorPolicy = OpenEnum<typeof DiskErrorPolicyValues>;
export const DiskErrorPolicyValues = ["stop", "ignore", "report", "enospace"] as const;
export const DiskErrorPolicySchema: Schema<DiskErrorPolicy> = openEnum(DiskErrorPolicyValues);

/** How the host performs a disk's I/O. */
export type DriverIO = OpenEnum<typeof DriverIOValues>;
export const DriverIOValues = ["threads", "native"] as const;
export const DriverIOSchema: Schema<DriverIO> = openEnum(DriverIOValues);

/** A disk of the guest, backed by the volume of the same name. */
export interface Disk {
  blockSize?: BlockSize;
  /** 1 boots first; two devices cannot have the same number. */
  bootOrder?: number;
  cache?: DriverCache;
  cdrom?: CDRomTarget;
  /** Records changed blocks, for incremental backups. */
  changedBlockTracking?: boolean;
  /** A dedicated thread for this disk. */
  dedicatedIOThread?: boolean;
  disk?: DiskTarget;
  errorPolicy?: DiskErrorPolicy;
  io?: DriverIO;
  lun?: LunTarget;
  name: string;
  /** The serial number that the guest reads. */
  serial?: string;
  /** Several VMIs may write to the disk at once; caching is off. */
  shareable?: boolean;
  /** Passed to the guest as metadata of the device. */
  tag?: string;
}

export const DiskSchema: Schema<Disk> = object<Disk>({
  blockSize: BlockSizeSchema,
  bootOrder: uint,
  cache: DriverCacheSchema,
  cdrom: CDRomTargetSchema,
  changedBlockTracking: boolean,
  dedicatedIOThread: boolean,
  disk: DiskTargetSchema,
  errorPolicy: DiskErrorPolicySchema,
  io: DriverIOSchema,
  lun: LunTargetSchema,
  name: required(string),
  serial: string,
  shareable: boolean,
  tag: string,
});
