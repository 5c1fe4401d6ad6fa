import { addressElement, type DomainAddress } from "./address.ts";
import { aliasElement, type DomainAlias } from "./alias.ts";
import { bootOrderElement, type DomainBootOrder } from "./boot-order.ts";
import { attribute, child, type ElementType, element, required } from "./element.ts";
import type { Extensible } from "./extensible.ts";

/** A device of the host that the guest gets: PCI, mediated or USB. */
export interface DomainHostDevice extends Extensible {
  mode?: string | undefined;
  type: string;
  managed?: string | undefined;
  model?: string | undefined;
  display?: string | undefined;
  ramfb?: string | undefined;
  driver?: DomainHostDeviceDriver | undefined;
  source: DomainHostDeviceSource;
  boot?: DomainBootOrder | undefined;
  acpi?: DomainHostDeviceAcpi | undefined;
  alias?: DomainAlias | undefined;
  address?: DomainAddress | undefined;
}

/** Whether the device is opened through an IOMMU file descriptor. */
export interface DomainHostDeviceDriver extends Extensible {
  iommufd?: string | undefined;
}

/** The device's address on the host. */
export interface DomainHostDeviceSource extends Extensible {
  address?: DomainAddress | undefined;
}

/** Guest NUMA nodes that belong to the device. */
export interface DomainHostDeviceAcpi extends Extensible {
  nodeset?: string | undefined;
}

export const hostDeviceElement: ElementType<DomainHostDevice> = element(() => ({
  mode: attribute(),
  type: required(attribute()),
  managed: attribute(),
  model: attribute(),
  display: attribute(),
  ramfb: attribute(),
  driver: child(element<DomainHostDeviceDriver>(() => ({ iommufd: attribute() }))),
  source: required(
    child(element<DomainHostDeviceSource>(() => ({ address: child(addressElement) }))),
  ),
  boot: child(bootOrderElement),
  acpi: child(element<DomainHostDeviceAcpi>(() => ({ nodeset: attribute() }))),
  alias: child(aliasElement),
  address: child(addressElement),
}));
