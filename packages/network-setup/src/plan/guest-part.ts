import {
  type BindingPlugins,
  domainAttachments,
  interfacesOf,
  wiredNames,
} from "@virtkit/api/network";
import type { DHCPOptions, Interface, Network, VirtualMachineInstance } from "@virtkit/api/schema";
import { bindings } from "./binding.ts";
import { checkedLinkNames } from "./checked-link-names.ts";
import { type DomainNic, domainNic } from "./domain-nic.ts";
import {
  type BridgeLease,
  bridgeDhcp,
  bridgeServerAddress,
  type GuestDhcp,
  masqueradeDhcp,
} from "./guest-dhcp.ts";
import type { PodNic } from "./pod-nic.ts";
import type { PredictedLink } from "./predict-links.ts";

/** The servers of one guest interface. */
export interface GuestServers {
  /** The bridge that they listen on. */
  readonly link: string;
  readonly config: GuestDhcp;
  readonly options?: DHCPOptions;
}

/** What the launcher needs for one wired network. */
export interface GuestPart {
  /** The link of the Pod that stands for the network. */
  readonly podInterface: string;
  readonly domain: DomainNic;
  /**
   * Absent if the guest has no servers on this network, or if it is not recorded what a bridged
   * guest inherits.
   */
  readonly dhcp?: GuestServers;
}

/** A Pod with wired networks. */
export interface WiredPod {
  readonly links: readonly PredictedLink[];
  /** What bridged guests inherit, by the Pod's interface. */
  readonly leases: ReadonlyMap<string, BridgeLease>;
}

/**
 * The domain's part and the servers of one network; undefined if QEMU gets no TAP for it. Throws a
 * `NetworkSetupError` if the Pod's link is missing or the spec's MAC is invalid.
 */
export function guestPart(
  vmi: VirtualMachineInstance,
  network: Network,
  { links, leases }: WiredPod,
  plugins: BindingPlugins = {},
): GuestPart | undefined {
  const iface = interfacesOf(vmi.spec).find(({ name }) => name === network.name);
  if (!iface || domainAttachments(vmi, plugins)[iface.name] !== "tap") return undefined;
  const wired = wiredNames(vmi, network, (name) => links.some((link) => link.name === name));
  const podInterface = wired?.podInterface ?? "";
  const link = links.find(({ name }) => name === podInterface);
  const domain = domainNic(iface, network, link, wired?.target);
  const nic = nicsOf(links).find(({ name }) => name === podInterface);
  const [binding] = bindings(vmi, [network], nic ? [nic] : [], plugins);
  const lease = leases.get(podInterface);
  const dhcp = nic && serversOf(vmi, iface, network, nic, lease, binding?.kind);
  return { podInterface, domain, ...(dhcp ? { dhcp } : {}) };
}

function serversOf(
  vmi: VirtualMachineInstance,
  iface: Interface,
  network: Network,
  nic: PodNic,
  lease: BridgeLease | undefined,
  kind: string | undefined,
): GuestServers | undefined {
  const subdomain = vmi.spec?.subdomain ?? "";
  const options = iface.dhcpOptions ? { options: iface.dhcpOptions } : {};
  const link = (): string => checkedLinkNames(nic.name, network).bridge;
  if (kind === "masquerade") {
    const config = masqueradeDhcp(nic, network.pod ?? {}, subdomain);
    return { link: link(), config, ...options };
  }
  if (kind === "bridge" && lease) {
    const server = bridgeServerAddress(placeInSpec(vmi, iface.name));
    return { link: link(), config: bridgeDhcp(lease, nic, server, subdomain), ...options };
  }
  return undefined;
}

/**
 * An interface's position in the spec: a bridge that is plugged in later has its own server
 * address.
 */
export function placeInSpec(vmi: VirtualMachineInstance, name: string): number {
  return interfacesOf(vmi.spec).findIndex((iface) => iface.name === name);
}

function nicsOf(links: readonly PredictedLink[]): readonly PodNic[] {
  return links.map(({ addresses, master: _, ...link }) => ({
    ...link,
    addresses: addresses.map((cidr) => ({ cidr })),
    routes: [],
  }));
}
