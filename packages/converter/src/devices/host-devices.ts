import type { AssignedAddress, AssignedHostDevice } from "../context.ts";
import type { Configurator, Draft } from "../draft.ts";
import type { DomainAddress } from "../model/address.ts";
import { userAlias } from "../model/alias.ts";
import type { DomainHostDevice } from "../model/host-device.ts";

export const hostDevices: Configurator = {
  name: "host-devices",
  summary: "Assigned host devices: generic ones, then GPUs, then network functions.",
  configure({ context, domain }: Draft): void {
    for (const list of [context.genericHostDevices, context.gpuHostDevices, context.sriovDevices]) {
      for (const device of list ?? []) domain.devices.hostDevices.push(hostDeviceOf(device));
    }
  },
};

function hostDeviceOf(device: AssignedHostDevice): DomainHostDevice {
  const { Alias, BootOrder, Driver, ACPI } = device;
  return {
    mode: device.Mode || undefined,
    type: device.Type,
    managed: device.Managed || undefined,
    model: device.Model || undefined,
    display: device.Display || undefined,
    ramfb: device.RamFB || undefined,
    driver: Driver ? { iommufd: Driver.Iommufd || undefined } : undefined,
    source: { address: addressOf(device.Source.Address) },
    boot: BootOrder ? { order: BootOrder.Order } : undefined,
    acpi: ACPI ? { nodeset: ACPI.NodeSet || undefined } : undefined,
    alias: Alias ? (Alias.UserDefined ? userAlias(Alias.Name) : { name: Alias.Name }) : undefined,
    address: addressOf(device.Address),
  };
}

function addressOf(address: AssignedAddress | null | undefined): DomainAddress | undefined {
  if (!address) return undefined;
  return {
    type: address.Type || undefined,
    domain: address.Domain || undefined,
    bus: address.Bus || undefined,
    slot: address.Slot || undefined,
    function: address.Function || undefined,
    controller: address.Controller || undefined,
    target: address.Target || undefined,
    unit: address.Unit || undefined,
    uuid: address.UUID || undefined,
    device: address.Device || undefined,
    cssid: address.CSSID || undefined,
    ssid: address.SSID || undefined,
    devno: address.DevNo || undefined,
  };
}
