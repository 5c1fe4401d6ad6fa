import { addressElement, type DomainAddress } from "./address.ts";
import { aliasElement, type DomainAlias } from "./alias.ts";
import {
  attribute,
  child,
  type ElementType,
  element,
  numberAttribute,
  required,
  text,
} from "./element.ts";
import type { Extensible } from "./extensible.ts";

/** The device through which the host takes memory back. */
export interface DomainMemballoon extends Extensible {
  model: string;
  freePageReporting?: string | undefined;
  stats?: DomainMemballoonStats | undefined;
  driver?: DomainIommuDriver | undefined;
  address?: DomainAddress | undefined;
}

/** How often the guest reports its memory use, in seconds. */
export interface DomainMemballoonStats extends Extensible {
  period: number;
}

/** Whether a virtio device goes through the guest's IOMMU. */
export interface DomainIommuDriver extends Extensible {
  iommu?: string | undefined;
}

/** A source of random numbers. */
export interface DomainRng extends Extensible {
  model: string;
  backend?: DomainRngBackend | undefined;
  driver?: DomainIommuDriver | undefined;
  address?: DomainAddress | undefined;
}

/** The host's side of it. */
export interface DomainRngBackend extends Extensible {
  model: string;
  source: string;
}

/** A trusted platform module. */
export interface DomainTpm extends Extensible {
  model: string;
  backend: DomainTpmBackend;
}

/** Who emulates it. */
export interface DomainTpmBackend extends Extensible {
  type: string;
  version: string;
  persistentState?: string | undefined;
}

/** A device that acts when the guest hangs. */
export interface DomainWatchdog extends Extensible {
  model: string;
  action: string;
  alias?: DomainAlias | undefined;
  address?: DomainAddress | undefined;
}

/** A device through which the guest reports a crash. */
export interface DomainPanic extends Extensible {
  model?: string | undefined;
}

/** A socket between host and guest. */
export interface DomainVsock extends Extensible {
  model?: string | undefined;
  cid: DomainVsockCid;
}

/** The guest's address on it. */
export interface DomainVsockCid extends Extensible {
  auto: string;
  address?: number | undefined;
}

/** A directory of the host. */
export interface DomainFilesystem extends Extensible {
  type: string;
  accessMode: string;
  driver?: DomainFilesystemDriver | undefined;
  source?: DomainFilesystemSource | undefined;
  target?: DomainFilesystemTarget | undefined;
}

/** How it is shared. */
export interface DomainFilesystemDriver extends Extensible {
  type: string;
  queue?: number | undefined;
}

/** The directory, or the socket of the daemon that serves it. */
export interface DomainFilesystemSource extends Extensible {
  dir: string;
  socket?: string | undefined;
}

/** The tag by which the guest mounts it. */
export interface DomainFilesystemTarget extends Extensible {
  dir?: string | undefined;
}

/** An IOMMU of the guest. */
export interface DomainIommu extends Extensible {
  model: string;
  driver?: DomainIommuOptions | undefined;
}

/** The bus it serves and what it can do. */
export interface DomainIommuOptions extends Extensible {
  pciBus?: string | undefined;
  accel?: string | undefined;
  ats?: string | undefined;
  ril?: string | undefined;
  ssidSize?: string | undefined;
  oas?: string | undefined;
}

const iommuDriverElement: ElementType<DomainIommuDriver> = element(() => ({
  iommu: attribute(),
}));

export const memballoonElement: ElementType<DomainMemballoon> = element(() => ({
  model: required(attribute()),
  freePageReporting: attribute(),
  stats: child(element<DomainMemballoonStats>(() => ({ period: required(numberAttribute()) }))),
  driver: child(iommuDriverElement),
  address: child(addressElement),
}));

export const rngElement: ElementType<DomainRng> = element(() => ({
  model: required(attribute()),
  backend: child(
    element<DomainRngBackend>(() => ({ model: required(attribute()), source: required(text()) })),
  ),
  driver: child(iommuDriverElement),
  address: child(addressElement),
}));

export const tpmElement: ElementType<DomainTpm> = element(() => ({
  model: required(attribute()),
  backend: required(
    child(
      element<DomainTpmBackend>(() => ({
        type: required(attribute()),
        version: required(attribute()),
        persistentState: attribute("persistent_state"),
      })),
    ),
  ),
}));

export const watchdogElement: ElementType<DomainWatchdog> = element(() => ({
  model: required(attribute()),
  action: required(attribute()),
  alias: child(aliasElement),
  address: child(addressElement),
}));

export const panicElement: ElementType<DomainPanic> = element(() => ({ model: attribute() }));

export const vsockElement: ElementType<DomainVsock> = element(() => ({
  model: attribute(),
  cid: required(
    child(
      element<DomainVsockCid>(() => ({ auto: required(attribute()), address: numberAttribute() })),
    ),
  ),
}));

export const filesystemElement: ElementType<DomainFilesystem> = element(() => ({
  type: required(attribute()),
  accessMode: required(attribute()),
  driver: child(
    element<DomainFilesystemDriver>(() => ({
      type: required(attribute()),
      queue: numberAttribute(),
    })),
  ),
  source: child(
    element<DomainFilesystemSource>(() => ({ dir: required(attribute()), socket: attribute() })),
  ),
  target: child(element<DomainFilesystemTarget>(() => ({ dir: attribute() }))),
}));

export const iommuElement: ElementType<DomainIommu> = element(() => ({
  model: required(attribute()),
  driver: child(
    element<DomainIommuOptions>(() => ({
      pciBus: attribute(),
      accel: attribute(),
      ats: attribute(),
      ril: attribute(),
      ssidSize: attribute(),
      oas: attribute(),
    })),
  ),
}));
