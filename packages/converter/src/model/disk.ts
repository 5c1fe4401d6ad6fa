import { addressElement, type DomainAddress } from "./address.ts";
import { aliasElement, type DomainAlias } from "./alias.ts";
import { bootOrderElement, type DomainBootOrder } from "./boot-order.ts";
import {
  attribute,
  child,
  children,
  type ElementType,
  element,
  flag,
  leaf,
  numberAttribute,
  numberLeaf,
  required,
} from "./element.ts";
import type { Extensible } from "./extensible.ts";

/** A disk, CD-ROM drive or LUN. */
export interface DomainDisk extends Extensible {
  type: string;
  device: string;
  model?: string | undefined;
  driver?: DomainDiskDriver | undefined;
  source: DomainDiskSource;
  backingStore?: DomainBackingStore | undefined;
  blockio?: DomainBlockIo | undefined;
  target: DomainDiskTarget;
  readonly?: true | undefined;
  shareable?: true | undefined;
  serial?: string | undefined;
  boot?: DomainBootOrder | undefined;
  alias?: DomainAlias | undefined;
  address?: DomainAddress | undefined;
  /** Not libvirt's: the part of the volume that its file system needs, for growing the image. */
  filesystemOverhead?: string | undefined;
  /** Not libvirt's: the size of the volume in bytes, for growing the image. */
  capacity?: number | bigint | undefined;
}

/** How QEMU opens the image. */
export interface DomainDiskDriver extends Extensible {
  name: string;
  type: string;
  cache?: string | undefined;
  errorPolicy?: string | undefined;
  io?: string | undefined;
  discard?: string | undefined;
  iothread?: number | undefined;
  queues?: number | undefined;
  iommu?: string | undefined;
  iothreads?: DomainDiskIoThreads | undefined;
}

/** The pool of threads that serve one disk. */
export interface DomainDiskIoThreads extends Extensible {
  iothread: DomainDiskIoThread[];
}

/** A thread of such a pool, by its number in the domain. */
export interface DomainDiskIoThread extends Extensible {
  id: number;
}

/** The file, device or network volume behind a disk. */
export interface DomainDiskSource extends Extensible {
  file?: string | undefined;
  dev?: string | undefined;
  name?: string | undefined;
  startupPolicy?: string | undefined;
  protocol?: string | undefined;
  reservations?: DomainReservations | undefined;
  dataStore?: DomainDataStore | undefined;
}

/** Who handles persistent SCSI reservations. */
export interface DomainReservations extends Extensible {
  managed?: string | undefined;
  migration?: string | undefined;
  source?: DomainReservationsSource | undefined;
}

/** The socket of the reservation helper. */
export interface DomainReservationsSource extends Extensible {
  type: string;
  path?: string | undefined;
  mode?: string | undefined;
}

/** The raw data behind a qcow2 file that only tracks which blocks have changed. */
export interface DomainDataStore extends Extensible {
  type?: string | undefined;
  format?: DomainImageFormat | undefined;
  source?: DomainDiskSource | undefined;
}

/** The read-only image below an overlay. */
export interface DomainBackingStore extends Extensible {
  type?: string | undefined;
  format?: DomainImageFormat | undefined;
  source?: DomainDiskSource | undefined;
}

/** Format of an image: `raw`, `qcow2`. */
export interface DomainImageFormat extends Extensible {
  type: string;
}

/** Block sizes that the guest sees, in bytes. */
export interface DomainBlockIo extends Extensible {
  logicalBlockSize?: number | undefined;
  physicalBlockSize?: number | undefined;
  discardGranularity?: number | undefined;
}

/** The device name and bus in the guest. */
export interface DomainDiskTarget extends Extensible {
  dev?: string | undefined;
  bus?: string | undefined;
  tray?: string | undefined;
}

const formatElement: ElementType<DomainImageFormat> = element(() => ({
  type: required(attribute()),
}));

const reservationsSourceElement: ElementType<DomainReservationsSource> = element(() => ({
  type: required(attribute()),
  path: attribute(),
  mode: attribute(),
}));

const reservationsElement: ElementType<DomainReservations> = element(() => ({
  managed: attribute(),
  migration: attribute(),
  source: child(reservationsSourceElement),
}));

const dataStoreElement: ElementType<DomainDataStore> = element(() => ({
  type: attribute(),
  format: child(formatElement),
  source: child(sourceElement),
}));

const sourceElement: ElementType<DomainDiskSource> = element(() => ({
  file: attribute(),
  dev: attribute(),
  name: attribute(),
  startupPolicy: attribute(),
  protocol: attribute(),
  reservations: child(reservationsElement),
  dataStore: child(dataStoreElement),
}));

const backingStoreElement: ElementType<DomainBackingStore> = element(() => ({
  type: attribute(),
  format: child(formatElement),
  source: child(sourceElement),
}));

const ioThreadsElement: ElementType<DomainDiskIoThreads> = element(() => ({
  iothread: required(children("iothread", ioThreadElement)),
}));

const ioThreadElement: ElementType<DomainDiskIoThread> = element(() => ({
  id: required(numberAttribute()),
}));

const driverElement: ElementType<DomainDiskDriver> = element(() => ({
  name: required(attribute()),
  type: required(attribute()),
  cache: attribute(),
  errorPolicy: attribute("error_policy"),
  io: attribute(),
  discard: attribute(),
  iothread: numberAttribute(),
  queues: numberAttribute(),
  iommu: attribute(),
  iothreads: child(ioThreadsElement),
}));

const blockIoElement: ElementType<DomainBlockIo> = element(() => ({
  logicalBlockSize: numberAttribute("logical_block_size"),
  physicalBlockSize: numberAttribute("physical_block_size"),
  discardGranularity: numberAttribute("discard_granularity"),
}));

const targetElement: ElementType<DomainDiskTarget> = element(() => ({
  dev: attribute(),
  bus: attribute(),
  tray: attribute(),
}));

export const diskElement: ElementType<DomainDisk> = element(() => ({
  type: required(attribute()),
  device: required(attribute()),
  model: attribute(),
  driver: child(driverElement),
  source: required(child(sourceElement)),
  backingStore: child(backingStoreElement),
  blockio: child(blockIoElement),
  target: required(child(targetElement)),
  readonly: flag(),
  shareable: flag(),
  serial: leaf(),
  boot: child(bootOrderElement),
  alias: child(aliasElement),
  address: child(addressElement),
  filesystemOverhead: leaf(),
  capacity: numberLeaf(),
}));
