import { addressElement, type DomainAddress } from "./address.ts";
import { aliasElement, type DomainAlias } from "./alias.ts";
import {
  attribute,
  child,
  type ElementType,
  element,
  numberAttribute,
  numberLeaf,
  numberText,
  required,
} from "./element.ts";
import type { Extensible } from "./extensible.ts";

/** A bus controller: USB, SCSI, virtio-serial, PCI. */
export interface DomainController extends Extensible {
  type: string;
  index: number;
  model?: string | undefined;
  driver?: DomainControllerDriver | undefined;
  pcihole64?: DomainPciHole | undefined;
  target?: DomainControllerTarget | undefined;
  alias?: DomainAlias | undefined;
  address?: DomainAddress | undefined;
}

/** Threads, queues and IOMMU of a virtio controller. */
export interface DomainControllerDriver extends Extensible {
  iothread?: number | undefined;
  queues?: number | undefined;
  iommu?: string | undefined;
}

/** Size of the 64-bit window for PCI memory; 0 turns it off. */
export interface DomainPciHole extends Extensible {
  unit?: string | undefined;
  value: number;
}

/** Bus number and guest NUMA node of an expander bus. */
export interface DomainControllerTarget extends Extensible {
  busNr?: number | undefined;
  node?: number | undefined;
}

export const controllerElement: ElementType<DomainController> = element(() => ({
  type: required(attribute()),
  index: required(numberAttribute()),
  model: attribute(),
  driver: child(
    element<DomainControllerDriver>(() => ({
      iothread: numberAttribute(),
      queues: numberAttribute(),
      iommu: attribute(),
    })),
  ),
  pcihole64: child(
    element<DomainPciHole>(() => ({ unit: attribute(), value: required(numberText()) })),
  ),
  target: child(
    element<DomainControllerTarget>(() => ({ busNr: numberAttribute(), node: numberLeaf() })),
  ),
  alias: child(aliasElement),
  address: child(addressElement),
}));
