import {
  attribute,
  child,
  children,
  type ElementType,
  element,
  flag,
  numberAttribute,
  numberText,
  required,
} from "./element.ts";
import type { Extensible } from "./extensible.ts";

/** An amount of memory; the converter counts in bytes. A bigint only above 2^53. */
export interface DomainMemory extends Extensible {
  unit: string;
  value: number | bigint;
}

/** How far memory can grow while the guest runs. */
export interface DomainMaxMemory extends Extensible {
  slots: number;
  unit: string;
  value: number | bigint;
}

/** How the guest's memory is allocated. */
export interface DomainMemoryBacking extends Extensible {
  hugepages?: DomainHugepages | undefined;
  nosharepages?: true | undefined;
  source?: DomainMemoryBackingSource | undefined;
  access?: DomainMemoryAccess | undefined;
  allocation?: DomainMemoryAllocation | undefined;
}

/** Huge pages; without a list, of the default size for all of the memory. */
export interface DomainHugepages extends Extensible {
  page: DomainHugepage[];
}

/** Page size for some of the guest's NUMA cells. */
export interface DomainHugepage extends Extensible {
  size: number | bigint;
  unit: string;
  nodeset: string;
}

/** `memfd` or `anonymous`. */
export interface DomainMemoryBackingSource extends Extensible {
  type: string;
}

/** Whether another process may map the memory. */
export interface DomainMemoryAccess extends Extensible {
  mode: string;
}

/** When the memory is allocated. */
export interface DomainMemoryAllocation extends Extensible {
  mode: string;
}

export const memoryElement: ElementType<DomainMemory> = element(() => ({
  unit: required(attribute()),
  value: required(numberText()),
}));

export const maxMemoryElement: ElementType<DomainMaxMemory> = element(() => ({
  slots: required(numberAttribute()),
  unit: required(attribute()),
  value: required(numberText()),
}));

const hugepageElement: ElementType<DomainHugepage> = element(() => ({
  size: required(numberAttribute()),
  unit: required(attribute()),
  nodeset: required(attribute()),
}));

export const memoryBackingElement: ElementType<DomainMemoryBacking> = element(() => ({
  hugepages: child(
    element<DomainHugepages>(() => ({ page: required(children("page", hugepageElement)) })),
  ),
  nosharepages: flag(),
  source: child(element<DomainMemoryBackingSource>(() => ({ type: required(attribute()) }))),
  access: child(element<DomainMemoryAccess>(() => ({ mode: required(attribute()) }))),
  allocation: child(element<DomainMemoryAllocation>(() => ({ mode: required(attribute()) }))),
}));
