import type { AssignedAddress, AssignedHostDevice } from "../context.ts";
import { invalidContext } from "../converter-error.ts";
import { parsePciAddress } from "../placement/pci-address.ts";

/** A PCI device of the host, by its address. `path` says where the address was found. */
export function pciDevice(alias: string, address: string, path: string): AssignedHostDevice {
  return {
    Type: "pci",
    Managed: "no",
    Source: { Address: assignedPciAddress(address, path) },
    Alias: { Name: alias, UserDefined: true },
  };
}

/** A mediated device, by its UUID. */
export function mediatedDevice(
  alias: string,
  uuid: string,
  model = "vfio-pci",
): AssignedHostDevice {
  return {
    Type: "mdev",
    Mode: "subsystem",
    Model: model,
    Source: { Address: { UUID: uuid } },
    Alias: { Name: alias, UserDefined: true },
  };
}

/** A USB device of the host, by bus and device number: `1:5`. */
export function usbDevice(alias: string, address: string, path: string): AssignedHostDevice {
  const [bus, device, ...rest] = address.split(":");
  if (bus === undefined || device === undefined || rest.length > 0) {
    throw invalidContext(path, `"${address}" is not a USB address; write it as bus:device`);
  }
  return {
    Type: "usb",
    Mode: "subsystem",
    Source: { Address: { Bus: bus, Device: device } },
    Alias: { Name: alias, UserDefined: true },
  };
}

/** An address such as `0000:81:00.0`. */
export function assignedPciAddress(text: string, path: string): AssignedAddress {
  const address = parsePciAddress(text);
  if (!address) {
    throw invalidContext(path, `"${text}" is not a PCI address; write it as 0000:81:00.0`);
  }
  const { type = "", domain = "", bus = "", slot = "", function: fn = "" } = address;
  return { Type: type, Domain: domain, Bus: bus, Slot: slot, Function: fn };
}
