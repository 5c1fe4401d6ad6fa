import { invalidVmi } from "../converter-error.ts";
import type { DomainAddress } from "../model/address.ts";

const pattern = /^([\da-fA-F]{4}):([\da-fA-F]{2}):([\da-fA-F]{2})\.([0-7])$/;

/** The address in the text `0000:81:00.0`; `undefined` if it is not valid. */
export function parsePciAddress(text: string): DomainAddress | undefined {
  const match = pattern.exec(text);
  if (!match) return undefined;
  const [, domain, bus, slot, fn] = match;
  return {
    type: "pci",
    domain: `0x${domain}`,
    bus: `0x${bus}`,
    slot: `0x${slot}`,
    function: `0x${fn}`,
  };
}

/** The address in a field of the VMI. */
export function pciAddress(text: string, path: string): DomainAddress {
  const address = parsePciAddress(text);
  if (address) return address;
  throw invalidVmi(path, `"${text}" is not a PCI address; write it as 0000:81:00.0`);
}

/** The text of an address, as sysfs names devices. */
export function formatPciAddress(address: DomainAddress): string {
  const { domain = "", bus = "", slot = "", function: fn = "" } = address;
  return `${bare(domain)}:${bare(bus)}:${bare(slot)}.${bare(fn)}`;
}

function bare(part: string): string {
  return part.startsWith("0x") ? part.slice(2) : part;
}

/** A byte in libvirt's notation. */
export function hexByte(value: number): string {
  return `0x${value.toString(16).padStart(2, "0")}`;
}
