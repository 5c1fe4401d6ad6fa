import { clockElement, type DomainClock } from "./clock.ts";
import {
  cpuElement,
  cpuTuneElement,
  type DomainCpu,
  type DomainCpuTune,
  type DomainNumaTune,
  type DomainVcpu,
  type DomainVcpus,
  numaTuneElement,
  vcpuElement,
  vcpusElement,
} from "./cpu.ts";
import { type DomainDevices, devicesElement } from "./devices.ts";
import {
  attribute,
  child,
  children,
  type ElementType,
  element,
  leaf,
  numberLeaf,
  required,
} from "./element.ts";
import type { Extensible } from "./extensible.ts";
import { type DomainFeatures, featuresElement } from "./features.ts";
import {
  type DomainMaxMemory,
  type DomainMemory,
  type DomainMemoryBacking,
  maxMemoryElement,
  memoryBackingElement,
  memoryElement,
} from "./memory.ts";
import { type DomainMetadata, metadataElement } from "./metadata.ts";
import { type DomainOs, type DomainSysinfo, osElement, sysinfoElement } from "./os.ts";

/** A libvirt domain: everything that the converter can produce, as plain data. */
export interface Domain extends Extensible {
  /** The hypervisor: `kvm`, `qemu`, `hyperv`. */
  type: string;
  xmlnsQemu?: string | undefined;
  name: string;
  uuid?: string | undefined;
  metadata: DomainMetadata;
  maxMemory?: DomainMaxMemory | undefined;
  memory: DomainMemory;
  currentMemory?: DomainMemory | undefined;
  memoryBacking?: DomainMemoryBacking | undefined;
  vcpu?: DomainVcpu | undefined;
  vcpus?: DomainVcpus | undefined;
  iothreads?: number | undefined;
  cputune?: DomainCpuTune | undefined;
  numatune?: DomainNumaTune | undefined;
  sysinfo?: DomainSysinfo | undefined;
  os: DomainOs;
  features?: DomainFeatures | undefined;
  cpu: DomainCpu;
  clock?: DomainClock | undefined;
  onReboot?: string | undefined;
  devices: DomainDevices;
  launchSecurity?: DomainLaunchSecurity | undefined;
  iommufd?: DomainIommufd | undefined;
  qemuCommandline?: DomainQemuCommandline | undefined;
}

/** Confidential computing: `sev`, `sev-snp`, `tdx`. */
export interface DomainLaunchSecurity extends Extensible {
  type: string;
  policy?: string | undefined;
  dhCert?: string | undefined;
  session?: string | undefined;
  quoteGenerationService?: DomainQuoteService | undefined;
}

/** The socket of the quote generation service. */
export interface DomainQuoteService extends Extensible {
  path?: string | undefined;
}

/** The IOMMU file descriptor that is passed to libvirt. */
export interface DomainIommufd extends Extensible {
  enabled: string;
  fdgroup?: string | undefined;
}

/** QEMU arguments in addition to libvirt's own. */
export interface DomainQemuCommandline extends Extensible {
  args: DomainQemuArgument[];
}

/** One such argument. */
export interface DomainQemuArgument extends Extensible {
  value: string;
}

const argumentElement: ElementType<DomainQemuArgument> = element(() => ({
  value: required(attribute()),
}));

/** The root element, called `domain`. */
export const domainElement: ElementType<Domain> = element(() => ({
  type: required(attribute()),
  xmlnsQemu: attribute("xmlns:qemu"),
  name: required(leaf()),
  uuid: leaf(),
  metadata: required(child(metadataElement)),
  maxMemory: child(maxMemoryElement),
  memory: required(child(memoryElement)),
  currentMemory: child(memoryElement),
  memoryBacking: child(memoryBackingElement),
  vcpu: child(vcpuElement),
  vcpus: child(vcpusElement),
  iothreads: numberLeaf(),
  cputune: child(cpuTuneElement),
  numatune: child(numaTuneElement),
  sysinfo: child(sysinfoElement),
  os: required(child(osElement)),
  features: child(featuresElement),
  cpu: required(child(cpuElement)),
  clock: child(clockElement),
  onReboot: leaf("on_reboot"),
  devices: required(child(devicesElement)),
  launchSecurity: child(
    element<DomainLaunchSecurity>(() => ({
      type: required(attribute()),
      policy: leaf(),
      dhCert: leaf(),
      session: leaf(),
      quoteGenerationService: child(element<DomainQuoteService>(() => ({ path: attribute() }))),
    })),
  ),
  iommufd: child(
    element<DomainIommufd>(() => ({ enabled: required(attribute()), fdgroup: attribute() })),
  ),
  qemuCommandline: child(
    element<DomainQemuCommandline>(() => ({
      args: required(children("qemu:arg", argumentElement)),
    })),
    "qemu:commandline",
  ),
}));
