import { invalidContext, isConverterError } from "../converter-error.ts";
import type { Configurator, Draft } from "../draft.ts";
import type { Domain } from "../model/domain.ts";
import type { DomainHostDevice } from "../model/host-device.ts";
import { type CellDevice, placeOnExpanderBuses } from "./expander-buses.ts";
import { guestCells } from "./guest-cells.ts";
import { formatPciAddress } from "./pci-address.ts";

/**
 * If the guest mirrors the host's cells, a device without a cell is an error; otherwise it stays where libvirt
 * puts it.
 */
export const pciNuma: Configurator = {
  name: "pci-numa",
  summary: "Puts PCI host devices into the guest NUMA cell that matches their host node.",
  configure(draft: Draft): void {
    const { spec, context, architecture, domain } = draft;
    if (!spec.cpu?.dedicatedCpuPlacement || !context.pciNumaAwareTopologyEnabled) return;
    if (!architecture.hasPcie || (context.graceHostDeviceAliases ?? []).length > 0) return;
    const strict = Boolean(spec.cpu.numa?.guestMappingPassthrough);
    const { devices, problems } = cellDevices(draft);
    if (strict && problems.length > 0) {
      throw invalidContext("host.pciDeviceNumaNodes", problems.join("; "));
    }
    try {
      placeOnExpanderBuses(domain, devices);
    } catch (error) {
      if (strict || !isConverterError(error)) throw error;
    }
  },
};

/** PCI host devices with their guest cells, and the problems of those without one. */
export function cellDevices({ context, domain }: Draft): {
  devices: CellDevice[];
  problems: string[];
} {
  const problems: string[] = [];
  const bySource = unplacedDevices(domain, problems);
  const found = guestCells([...bySource.keys()].sort(), domain, context.host ?? {});
  for (const { address, reason } of found.problems) if (!address) problems.push(reason);
  const devices: CellDevice[] = [];
  for (const [source, device] of bySource) {
    const cell = found.cells.get(source);
    if (cell !== undefined) devices.push({ device, source, cell });
    else problems.push(`${source} has no guest NUMA cell: ${reasonOf(source, found.problems)}`);
  }
  return { devices, problems };
}

/** PCI host devices by their address on the host; those with an address in the guest keep it. */
function unplacedDevices(domain: Domain, problems: string[]): Map<string, DomainHostDevice> {
  const bySource = new Map<string, DomainHostDevice>();
  for (const device of domain.devices.hostDevices) {
    if (device.type !== "pci") continue;
    const source = device.source.address && formatPciAddress(device.source.address);
    if (source === undefined) problems.push("a PCI host device has no address on the host");
    else if (isPlaced(device)) problems.push(`${source} already has an address in the guest`);
    else bySource.set(source, device);
  }
  return bySource;
}

function reasonOf(source: string, problems: ReturnType<typeof guestCells>["problems"]): string {
  const reasons = problems.filter(({ address }) => address === source).map(({ reason }) => reason);
  return reasons.join(", ") || "the guest has no cells to choose from";
}

function isPlaced({ address }: DomainHostDevice): boolean {
  return Boolean(address?.domain || address?.bus || address?.slot || address?.function);
}
