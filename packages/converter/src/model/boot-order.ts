import { type ElementType, element, numberAttribute, required } from "./element.ts";
import type { Extensible } from "./extensible.ts";

/** The place of a device in the firmware's boot order, from 1. */
export interface DomainBootOrder extends Extensible {
  order: number;
}

export const bootOrderElement: ElementType<DomainBootOrder> = element(() => ({
  order: required(numberAttribute()),
}));
