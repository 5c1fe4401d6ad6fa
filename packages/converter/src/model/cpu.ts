import {
  attribute,
  child,
  children,
  type ElementType,
  element,
  leaf,
  numberAttribute,
  numberText,
  required,
} from "./element.ts";
import type { Extensible } from "./extensible.ts";

/** The CPU that the guest sees. */
export interface DomainCpu extends Extensible {
  mode?: string | undefined;
  model?: string | undefined;
  topology?: DomainCpuTopology | undefined;
  features: DomainCpuFeature[];
  numa?: DomainNuma | undefined;
}

/** Sockets, cores per socket, threads per core. */
export interface DomainCpuTopology extends Extensible {
  sockets?: number | undefined;
  cores?: number | undefined;
  threads?: number | undefined;
}

/** A CPU flag and what to do about it. */
export interface DomainCpuFeature extends Extensible {
  policy?: string | undefined;
  name: string;
}

/** The guest's NUMA cells. */
export interface DomainNuma extends Extensible {
  cells: DomainNumaCell[];
}

/** A NUMA cell: its CPUs and memory. */
export interface DomainNumaCell extends Extensible {
  id: number;
  cpus?: string | undefined;
  memory?: number | bigint | undefined;
  unit?: string | undefined;
  memAccess?: string | undefined;
  distances?: DomainNumaDistances | undefined;
}

/** How far the other cells are. */
export interface DomainNumaDistances extends Extensible {
  siblings: DomainNumaDistance[];
}

/** How far one other cell is; 10 is the cell itself. */
export interface DomainNumaDistance extends Extensible {
  id: number;
  value: number;
}

/** Number of CPUs, including those that are not plugged in yet. */
export interface DomainVcpu extends Extensible {
  placement: string;
  count: number;
}

/** Each CPU separately, if some are plugged in later. */
export interface DomainVcpus extends Extensible {
  vcpu: DomainVcpusVcpu[];
}

/** A CPU that is, or can be, plugged in. */
export interface DomainVcpusVcpu extends Extensible {
  id: number;
  enabled?: string | undefined;
  hotpluggable?: string | undefined;
  order?: number | undefined;
}

/** Which host CPUs run which threads of the guest. */
export interface DomainCpuTune extends Extensible {
  vcpupin: DomainVcpuPin[];
  emulatorpin?: DomainEmulatorPin | undefined;
  iothreadpin: DomainIoThreadPin[];
}

/** Host CPUs of a guest CPU. */
export interface DomainVcpuPin extends Extensible {
  vcpu: number;
  cpuset: string;
}

/** Host CPUs of the emulator's own threads. */
export interface DomainEmulatorPin extends Extensible {
  cpuset: string;
}

/** Host CPUs of an I/O thread. */
export interface DomainIoThreadPin extends Extensible {
  iothread: number;
  cpuset: string;
}

/** Which host NUMA nodes hold the guest's memory. */
export interface DomainNumaTune extends Extensible {
  memory: DomainNumaTuneMemory;
  memnodes: DomainMemNode[];
}

/** Nodes of all of the memory. */
export interface DomainNumaTuneMemory extends Extensible {
  mode: string;
  nodeset: string;
}

/** Nodes of one guest cell's memory. */
export interface DomainMemNode extends Extensible {
  cellid: number;
  mode: string;
  nodeset: string;
}

const distanceElement: ElementType<DomainNumaDistance> = element(() => ({
  id: required(numberAttribute()),
  value: required(numberAttribute()),
}));

const cellElement: ElementType<DomainNumaCell> = element(() => ({
  id: required(numberAttribute()),
  cpus: attribute(),
  memory: numberAttribute(),
  unit: attribute(),
  memAccess: attribute(),
  distances: child(
    element<DomainNumaDistances>(() => ({
      siblings: required(children("sibling", distanceElement)),
    })),
  ),
}));

const featureElement: ElementType<DomainCpuFeature> = element(() => ({
  policy: attribute(),
  name: required(attribute()),
}));

export const cpuElement: ElementType<DomainCpu> = element(() => ({
  mode: attribute(),
  model: leaf(),
  topology: child(
    element<DomainCpuTopology>(() => ({
      sockets: numberAttribute(),
      cores: numberAttribute(),
      threads: numberAttribute(),
    })),
  ),
  features: required(children("feature", featureElement)),
  numa: child(element<DomainNuma>(() => ({ cells: required(children("cell", cellElement)) }))),
}));

export const vcpuElement: ElementType<DomainVcpu> = element(() => ({
  placement: required(attribute()),
  count: required(numberText()),
}));

const vcpusVcpuElement: ElementType<DomainVcpusVcpu> = element(() => ({
  id: required(numberAttribute()),
  enabled: attribute(),
  hotpluggable: attribute(),
  order: numberAttribute(),
}));

export const vcpusElement: ElementType<DomainVcpus> = element(() => ({
  vcpu: required(children("vcpu", vcpusVcpuElement)),
}));

const vcpuPinElement: ElementType<DomainVcpuPin> = element(() => ({
  vcpu: required(numberAttribute()),
  cpuset: required(attribute()),
}));

const ioThreadPinElement: ElementType<DomainIoThreadPin> = element(() => ({
  iothread: required(numberAttribute()),
  cpuset: required(attribute()),
}));

export const cpuTuneElement: ElementType<DomainCpuTune> = element(() => ({
  vcpupin: required(children("vcpupin", vcpuPinElement)),
  emulatorpin: child(element<DomainEmulatorPin>(() => ({ cpuset: required(attribute()) }))),
  iothreadpin: required(children("iothreadpin", ioThreadPinElement)),
}));

const memNodeElement: ElementType<DomainMemNode> = element(() => ({
  cellid: required(numberAttribute()),
  mode: required(attribute()),
  nodeset: required(attribute()),
}));

export const numaTuneElement: ElementType<DomainNumaTune> = element(() => ({
  memory: required(
    child(
      element<DomainNumaTuneMemory>(() => ({
        mode: required(attribute()),
        nodeset: required(attribute()),
      })),
    ),
  ),
  memnodes: required(children("memnode", memNodeElement)),
}));
