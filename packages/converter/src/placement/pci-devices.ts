import type { DomainAddress } from "../model/address.ts";
import type { Domain } from "../model/domain.ts";

/** A device that has, or can have, an address on a PCI bus. */
export interface PciDevice {
  address?: DomainAddress | undefined;
}

/** Controllers that are buses themselves and have no address on one. */
const rootControllers: readonly (string | undefined)[] = [
  "pci-root",
  "pcie-root",
  "pcie-expander-bus",
];

/** The domain's PCI devices, in the order in which they get their addresses. */
export function pciDevices({ devices }: Domain): PciDevice[] {
  const { rng, memballoon } = devices;
  const all: PciDevice[] = [
    ...devices.interfaces,
    ...devices.hostDevices.filter(({ type }) => type === "pci"),
    ...devices.controllers.filter(({ model }) => !rootControllers.includes(model)),
    ...devices.disks.filter(({ target }) => target.bus === "virtio"),
    ...devices.inputs.filter(({ bus }) => bus === "virtio"),
    ...devices.watchdogs,
    ...(rng ? [rng] : []),
    ...(memballoon ? [memballoon] : []),
  ];
  return all.filter(({ address }) => !address?.type || address.type === "pci");
}
