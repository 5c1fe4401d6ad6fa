import { formatMac } from "@virtkit/api/addresses";
import type { Interface, Network } from "@virtkit/api/schema";
import { parseMac } from "../mac-address.ts";
import { NetworkSetupError } from "../network-setup-error.ts";

/** What the domain's XML says of an interface that is attached by a TAP. */
export interface DomainNic {
  /** The VMI's interface. */
  readonly name: string;
  readonly mac: string;
  readonly mtu: number;
  /** The device that QEMU opens; it exists, so libvirt must not manage it. */
  readonly target: string;
}

/** A link of the wired namespace. */
export interface WiredLink {
  readonly name: string;
  readonly mac: string;
  readonly mtu: number;
}

/**
 * What the domain needs to know of an interface, from the links of the wired namespace. The MAC is the
 * spec's, else that of the Pod's interface, so that a target of a migration must get the source's
 * from the CNI. Throws a {@link NetworkSetupError} where the link is missing or the spec's MAC is none.
 */
export function domainNic(
  iface: Interface,
  network: Network,
  link: WiredLink | undefined,
  target: string | undefined,
): DomainNic {
  if (!link || target === undefined) {
    const message = `the Pod has no link for network ${network.name}; the plugin that binds it must make one`;
    throw new NetworkSetupError("NETWORK_POD_LINK_MISSING", message, { path: network.name });
  }
  const mac = iface.macAddress
    ? formatMac(parseMac(iface.macAddress, `interfaces.${iface.name}.macAddress`))
    : link.mac;
  return { name: iface.name, mac, mtu: link.mtu, target };
}
