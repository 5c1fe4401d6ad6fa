import { names as kubevirtNames, type Names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { architectureOf } from "../architecture/architecture-of.ts";
import { invalidVmi } from "../converter-error.ts";
import type { Domain } from "../model/domain.ts";
import type { DomainInterface } from "../model/interface.ts";
import { pciDevices } from "../placement/pci-devices.ts";

/** How much room a guest has for hotplugged devices. */
export interface HotplugPorts {
  /** Whether devices sit on PCIe ports, so that free ones are needed at all. */
  readonly supportsPCIeHotplug: boolean;
  /** Cards that only reserve addresses while the domain is defined for the first time. */
  readonly placeholderInterfaces: number;
  /** Empty ports beyond those that the placeholders leave behind. */
  readonly extraRootPorts: number;
  /** PCI devices that the domain has. */
  readonly pciDevices: number;
}

const standard = kubevirtNames();

/** Cards that a guest has room for, from before there were free ports. */
const interfacePlaces = 4;

/** Total ports and minimum free ones; a guest with more memory gets more. */
const smallGuest = { total: 8, free: 3 };
const largeGuest = { total: 16, free: 6 };
const largeMemory = 2 * 1024 ** 3;

/** Highest index of a port: each takes a slot of the root bus, which has 32. */
const maxPortIndex = 31;

/**
 * Counts the ports to add to a domain before its first start.
 *
 * @throws ConverterError if the annotation that sets the number of ports is not a whole number.
 */
export function hotplugPorts(
  vmi: VirtualMachineInstance,
  domain: Domain,
  { annotations }: Pick<Names, "annotations"> = standard,
): HotplugPorts {
  const used = pciDevices(domain).length;
  const supported = hasPciePorts(vmi);
  if (!supported) {
    return {
      supportsPCIeHotplug: false,
      placeholderInterfaces: 0,
      extraRootPorts: 0,
      pciDevices: used,
    };
  }
  const onRoot = vmi.metadata?.annotations?.[annotations.placePciDevicesOnRootComplex] === "true";
  const placeholders = placeholderCount(vmi, annotations.pciInterfaceSlotCount, onRoot);
  return {
    supportsPCIeHotplug: true,
    placeholderInterfaces: placeholders,
    extraRootPorts: onRoot ? 0 : extraPorts(domain, used, placeholders),
    pciDevices: used,
  };
}

function hasPciePorts({ spec }: VirtualMachineInstance): boolean {
  if (!["amd64", "arm64", ""].includes(spec.architecture ?? "")) return false;
  const machine = spec.domain.machine;
  if (!machine) return true;
  const type = machine.type ?? "";
  return type.includes("q35") || type.startsWith("virt");
}

/** The number of ports is fixed for guests whose addresses depend on it. */
function placeholderCount(
  vmi: VirtualMachineInstance,
  annotation: string,
  onRoot: boolean,
): number {
  const cards = (vmi.spec.domain.devices?.interfaces ?? []).length;
  const fixed = vmi.metadata?.annotations?.[annotation];
  if (fixed !== undefined) {
    if (!/^[-+]?\d+$/.test(fixed)) {
      const path = `metadata.annotations["${annotation}"]`;
      throw invalidVmi(path, `"${fixed}" is not a whole number`);
    }
    return Math.max(0, Number(fixed) - cards);
  }
  if (onRoot || cards === 0) return 0;
  return Math.max(0, interfacePlaces - cards);
}

function extraPorts({ memory }: Domain, used: number, placeholders: number): number {
  const { total, free } = memory.value > largeMemory ? largeGuest : smallGuest;
  return Math.max(0, Math.max(total - used, free) - placeholders);
}

/** The domain with placeholders. When it is defined, libvirt assigns an address to every device. */
export function withPlaceholders(
  domain: Domain,
  vmi: VirtualMachineInstance,
  count: number,
): Domain {
  const transitional = vmi.spec.domain.devices?.useVirtioTransitional === true;
  const type = architectureOf(vmi.spec.architecture ?? "").virtioModel(transitional);
  const placeholders = Array.from({ length: count }, (_, at): DomainInterface => {
    const dev = `placeholder-${at}`;
    return {
      type: "ethernet",
      source: {},
      target: { dev, managed: "no" },
      model: { type },
      alias: { name: dev },
    };
  });
  const interfaces = [...domain.devices.interfaces, ...placeholders];
  return { ...domain, devices: { ...domain.devices, interfaces } };
}

/**
 * The domain with the addresses and ports that libvirt has assigned, and without the placeholders. Only devices are
 * taken from libvirt's domain, since it does not return everything else.
 */
export function withDefinedDevices(domain: Domain, defined: Domain): Domain {
  const { interfaces } = domain.devices;
  return { ...domain, devices: { ...defined.devices, interfaces } };
}

/** The domain with empty ports added after all others; fewer if the root bus has no room. */
export function withRootPorts(domain: Domain, count: number): Domain {
  const { controllers } = domain.devices;
  const indexes = controllers.filter(({ type }) => type === "pci").map(({ index }) => index);
  const next = Math.max(0, ...indexes) + 1;
  const room = Math.max(0, maxPortIndex - next + 1);
  const ports = Array.from({ length: Math.min(count, room) }, (_, at) => ({
    type: "pci",
    index: next + at,
    model: "pcie-root-port",
  }));
  return { ...domain, devices: { ...domain.devices, controllers: [...controllers, ...ports] } };
}
