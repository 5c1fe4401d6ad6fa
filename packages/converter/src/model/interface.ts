import { addressElement, type DomainAddress } from "./address.ts";
import { aliasElement, type DomainAlias } from "./alias.ts";
import { bootOrderElement, type DomainBootOrder } from "./boot-order.ts";
import {
  attribute,
  child,
  children,
  type ElementType,
  element,
  numberAttribute,
  required,
} from "./element.ts";
import type { Extensible } from "./extensible.ts";

/** A network card. */
export interface DomainInterface extends Extensible {
  type: string;
  mac?: DomainMac | undefined;
  source: DomainInterfaceSource;
  target?: DomainInterfaceTarget | undefined;
  model?: DomainInterfaceModel | undefined;
  driver?: DomainInterfaceDriver | undefined;
  backend?: DomainInterfaceBackend | undefined;
  portForward?: DomainPortForward[] | undefined;
  mtu?: DomainMtu | undefined;
  link?: DomainLink | undefined;
  boot?: DomainBootOrder | undefined;
  rom?: DomainRom | undefined;
  acpi?: DomainAcpiIndex | undefined;
  alias?: DomainAlias | undefined;
  address?: DomainAddress | undefined;
}

/** The card's hardware address. */
export interface DomainMac extends Extensible {
  address: string;
}

/** What the card is connected to on the host, if libvirt connects it. */
export interface DomainInterfaceSource extends Extensible {
  dev?: string | undefined;
}

/** The TAP device behind the card. */
export interface DomainInterfaceTarget extends Extensible {
  dev: string;
  managed?: string | undefined;
}

/** The card that the guest sees. */
export interface DomainInterfaceModel extends Extensible {
  type: string;
}

/** Queues and IOMMU of a virtio card. */
export interface DomainInterfaceDriver extends Extensible {
  name: string;
  queues?: number | undefined;
  iommu?: string | undefined;
}

/** The user-space process behind the card. */
export interface DomainInterfaceBackend extends Extensible {
  type?: string | undefined;
  logFile?: string | undefined;
}

/** Ports of the Pod that reach the guest; without ranges, all ports of the protocol. */
export interface DomainPortForward extends Extensible {
  proto: string;
  range?: DomainPortRange[] | undefined;
}

/** A port, or an excluded one. */
export interface DomainPortRange extends Extensible {
  start: number;
  exclude?: string | undefined;
}

/** Largest packet, in bytes. */
export interface DomainMtu extends Extensible {
  size: number;
}

/** Whether the cable is plugged in. */
export interface DomainLink extends Extensible {
  state: string;
}

/** The card's boot ROM. */
export interface DomainRom extends Extensible {
  enabled: string;
}

/** The index by which the guest names the card. */
export interface DomainAcpiIndex extends Extensible {
  index: number;
}

const rangeElement: ElementType<DomainPortRange> = element(() => ({
  start: required(numberAttribute()),
  exclude: attribute(),
}));

const portForwardElement: ElementType<DomainPortForward> = element(() => ({
  proto: required(attribute()),
  range: children("range", rangeElement),
}));

export const interfaceElement: ElementType<DomainInterface> = element(() => ({
  type: required(attribute()),
  mac: child(element<DomainMac>(() => ({ address: required(attribute()) }))),
  source: required(child(element<DomainInterfaceSource>(() => ({ dev: attribute() })))),
  target: child(
    element<DomainInterfaceTarget>(() => ({ dev: required(attribute()), managed: attribute() })),
  ),
  model: child(element<DomainInterfaceModel>(() => ({ type: required(attribute()) }))),
  driver: child(
    element<DomainInterfaceDriver>(() => ({
      name: required(attribute()),
      queues: numberAttribute(),
      iommu: attribute(),
    })),
  ),
  backend: child(
    element<DomainInterfaceBackend>(() => ({ type: attribute(), logFile: attribute() })),
  ),
  portForward: children("portForward", portForwardElement),
  mtu: child(element<DomainMtu>(() => ({ size: required(numberAttribute()) }))),
  link: child(element<DomainLink>(() => ({ state: required(attribute()) }))),
  boot: child(bootOrderElement),
  rom: child(element<DomainRom>(() => ({ enabled: required(attribute()) }))),
  acpi: child(element<DomainAcpiIndex>(() => ({ index: required(numberAttribute()) }))),
  alias: child(aliasElement),
  address: child(addressElement),
}));
