import { formatMac } from "@virtkit/api/addresses";
import type { Interface, Network } from "@virtkit/api/schema";
import { parseMac } from "../mac-address.ts";
import { NetworkSetupError } from "../network-setup-error.ts";

/** The part of the domain's XML for an interface that is attached by a TAP. */
export interface DomainNic {
  /** The VMI's interface. */
  readonly name: string;
  readonly mac: string;
  readonly mtu: number;
  /** The device that QEMU opens; it exists already, so libvirt must not manage it. */
  readonly target: string;
}

/** A link of the wired namespace. */
export interface WiredLink {
  readonly name: string;
  readonly mac: string;
  readonly mtu: number;
}

/**
 * What the domain needs to know about an interface, from the links of the wired namespace. The MAC
 * comes from the spec, or from the Pod's interface; for a migration, the CNI must therefore give
 * the target the MAC of the source. Throws a {@link NetworkSetupError} if the link is missing or
 * the spec's MAC is invalid.
 */
export function domainNic(
  iface: Interface,
  network: Network,
  link: WiredLink | undefined,
  target: string | undefined,
): DomainNic {
  if (!link || target === undefined) {
    const message = `the Pod has no link for network ${network.name}; the plugin that binds it must create one`;
    throw new NetworkSetupError("NETWORK_POD_LINK_MISSING", message, { path: network.name });
  }
  const mac = iface.macAddress
    ? formatMac(parseMac(iface.macAddress, `interfaces.${iface.name}.macAddress`))
    : link.mac;
  return { name: iface.name, mac, mtu: link.mtu, target };
}
