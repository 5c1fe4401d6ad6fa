import { attribute, type ElementType, element } from "./element.ts";
import type { Extensible } from "./extensible.ts";

/** Where a device sits: on a PCI bus, behind a controller, on the channel subsystem, on the host. */
export interface DomainAddress extends Extensible {
  type?: string | undefined;
  domain?: string | undefined;
  bus?: string | undefined;
  slot?: string | undefined;
  function?: string | undefined;
  controller?: string | undefined;
  target?: string | undefined;
  unit?: string | undefined;
  uuid?: string | undefined;
  device?: string | undefined;
  cssid?: string | undefined;
  ssid?: string | undefined;
  devno?: string | undefined;
}

export const addressElement: ElementType<DomainAddress> = element(() => ({
  type: attribute(),
  domain: attribute(),
  bus: attribute(),
  slot: attribute(),
  function: attribute(),
  controller: attribute(),
  target: attribute(),
  unit: attribute(),
  uuid: attribute(),
  device: attribute(),
  cssid: attribute(),
  ssid: attribute(),
  devno: attribute(),
}));
