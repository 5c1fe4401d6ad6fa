import { parseMac } from "../addresses/mac-address.ts";
import type { ClusterConfig } from "../config/index.ts";
import type { Interface, VirtualMachineInstanceSpec } from "../schema/index.ts";
import { type Cause, each, fine, invalid, join, notSupported, oneOf, quote } from "./cause.ts";
import { dhcpOptions } from "./dhcp-options.ts";
import { networksByName } from "./network-lookup.ts";
import { isPciAddress } from "./pci-address.ts";
import { portRanges } from "./port-ranges.ts";
import { ports } from "./ports.ts";

/** The fields of each interface. */
export function interfaceFields(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): readonly Cause[] {
  const networks = networksByName(spec);
  return each(spec.domain.devices.interfaces, (iface, i) => {
    const field = `${at}.domain.devices.interfaces[${i}]`;
    const onPodNetwork = Boolean(networks.get(iface.name)?.pod);
    return join(
      name(iface, field),
      model(iface, field),
      macAddress(iface, field),
      pciAddress(iface, field),
      onPodNetwork ? ports(iface, field) : fine,
      portRanges(iface, { field, onPodNetwork, config }),
      dhcpOptions(iface, { field, at }),
    );
  });
}

function name(iface: Interface, field: string): readonly Cause[] {
  if (/^[A-Za-z0-9_-]+$/.test(iface.name)) return fine;
  return invalid(`${field}.name`, `is ${quote(iface.name)}; use letters, digits, '-' and '_'`);
}

const models: ReadonlySet<string> = new Set([
  "e1000",
  "e1000e",
  "igb",
  "ne2k_pci",
  "pcnet",
  "rtl8139",
  "virtio",
]);

function model(iface: Interface, field: string): readonly Cause[] {
  if (!iface.model || models.has(iface.model)) return fine;
  return notSupported(`${field}.model`, `is ${quote(iface.model)}; use ${oneOf(models)}`);
}

function macAddress(iface: Interface, field: string): readonly Cause[] {
  if (!iface.macAddress || parseMac(iface.macAddress)?.length === 6) return fine;
  return invalid(
    `${field}.macAddress`,
    `is ${quote(iface.macAddress)}; use six octets, for example de:ad:00:00:be:af`,
  );
}

function pciAddress(iface: Interface, field: string): readonly Cause[] {
  if (!iface.pciAddress || isPciAddress(iface.pciAddress)) return fine;
  return invalid(
    `${field}.pciAddress`,
    `is ${quote(iface.pciAddress)}; use domain:bus:slot.function in hexadecimal, for example 0000:81:01.0`,
  );
}
