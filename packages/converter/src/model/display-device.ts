import { addressElement, type DomainAddress } from "./address.ts";
import { aliasElement, type DomainAlias } from "./alias.ts";
import {
  attribute,
  child,
  type ElementType,
  element,
  numberAttribute,
  required,
} from "./element.ts";
import type { Extensible } from "./extensible.ts";

/** A graphics card. */
export interface DomainVideo extends Extensible {
  model: DomainVideoModel;
}

/** The card's type; sizes in KiB. */
export interface DomainVideoModel extends Extensible {
  type: string;
  heads?: number | undefined;
  vram?: number | undefined;
}

/** The display server. */
export interface DomainGraphics extends Extensible {
  type: string;
  listen?: DomainGraphicsListen | undefined;
}

/** The socket of the display. */
export interface DomainGraphicsListen extends Extensible {
  type: string;
  socket?: string | undefined;
}

/** A keyboard or tablet. */
export interface DomainInput extends Extensible {
  type: string;
  bus: string;
  model?: string | undefined;
  alias?: DomainAlias | undefined;
  address?: DomainAddress | undefined;
}

/** A sound card. */
export interface DomainSound extends Extensible {
  model: string;
  alias?: DomainAlias | undefined;
}

export const videoElement: ElementType<DomainVideo> = element(() => ({
  model: required(
    child(
      element<DomainVideoModel>(() => ({
        type: required(attribute()),
        heads: numberAttribute(),
        vram: numberAttribute(),
      })),
    ),
  ),
}));

export const graphicsElement: ElementType<DomainGraphics> = element(() => ({
  type: required(attribute()),
  listen: child(
    element<DomainGraphicsListen>(() => ({ type: required(attribute()), socket: attribute() })),
  ),
}));

export const inputElement: ElementType<DomainInput> = element(() => ({
  type: required(attribute()),
  bus: required(attribute()),
  model: attribute(),
  alias: child(aliasElement),
  address: child(addressElement),
}));

export const soundElement: ElementType<DomainSound> = element(() => ({
  model: required(attribute()),
  alias: child(aliasElement),
}));
