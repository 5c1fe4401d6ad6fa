import type { LinkNames } from "@virtkit/api/network";
import type { Interface, Network, PodNetwork } from "@virtkit/api/schema";
import { formatCidr } from "../ip-address.ts";
import { masqueradeAddresses } from "../masquerade-addresses.ts";
import { NetworkSetupError } from "../network-setup-error.ts";
import type { Mac } from "./operation.ts";
import { addressesOf, globalAddress, type PodAddress, type PodNic } from "./pod-nic.ts";

/** The wanted state of a link. */
export interface WantedLink {
  /** The VMI's network that it is for. */
  readonly network: string;
  readonly name: string;
  /** `port` is the Pod's own interface under its new name; the others are ours. */
  readonly role: "bridge" | "port" | "tap" | "placeholder";
  /** False: it must not exist. */
  readonly present: boolean;
  /** The Pod's own interface, which exists already. */
  readonly index?: number;
  readonly mac?: Mac;
  readonly mtu?: number;
  readonly master?: string;
  /** Undefined: the family is left alone; `[]`: no addresses. */
  readonly ipv4?: readonly PodAddress[];
  readonly ipv6?: readonly PodAddress[];
  readonly tap?: { readonly queues: number; readonly owner: number; readonly labelOf: number };
  /** Whether it is up; the placeholder stays down, so that nothing is routed to it. */
  readonly up: boolean;
  /** Packets for 127.0.0.0/8 may arrive: the NAT redirects the Pod's own ones to the guest. */
  readonly routeLocalNet?: boolean;
  /** False: the bridge must not assume that the guest's MAC is behind this port. */
  readonly learning?: boolean;
}

/** The input for the links of one interface. */
export interface WantedLinksInput {
  readonly iface: Interface;
  readonly network: Network;
  readonly names: LinkNames;
  /** The Pod's interface, by its own or by its new name; undefined if it is not there. */
  readonly nic: PodNic | undefined;
  readonly queues: number;
  readonly owner: number;
  readonly launcherPid: number;
}

/** MAC of the bridge between guest and Pod: fixed, so that the gateway's MAC survives a migration. */
const masqueradeBridgeMac = "02:00:00:00:00:00";

/**
 * The links of the masquerade binding: a bridge that is the guest's gateway, and a TAP. The Pod's
 * interface stays as it is. Throws a {@link NetworkSetupError} on a network that is too small.
 */
export function masqueradeLinks(input: WantedLinksInput): readonly WantedLink[] {
  const { nic, network, names } = input;
  const pod = network.pod;
  if (!pod) throw notPodNetwork(network);
  const ipv4 = gateway(nic, pod, "ipv4");
  const bridge: WantedLink = {
    network: network.name,
    name: names.bridge,
    role: "bridge",
    present: true,
    mac: masqueradeBridgeMac,
    ...(nic ? { mtu: nic.mtu } : {}),
    ipv4,
    ipv6: gateway(nic, pod, "ipv6"),
    up: true,
    ...(ipv4.length > 0 ? { routeLocalNet: true } : {}),
  };
  return [bridge, tapLink(input)];
}

/**
 * The links of the bridge binding, and of plugins that need a managed TAP: the Pod's interface
 * becomes a port of a bridge, its address goes to the guest, and a placeholder keeps its name, MAC
 * and addresses for those who look for them. `server` is the address that serves DHCP.
 */
export function bridgeLinks(input: WantedLinksInput, server?: string): readonly WantedLink[] {
  const { nic, network, names, iface } = input;
  const present = iface.state !== "absent";
  const common = { network: network.name, present };
  const hasIpv4 = globalAddress(nic, "ipv4") !== undefined;
  const bridge: WantedLink = {
    ...common,
    name: names.bridge,
    role: "bridge",
    ...(hasIpv4 && server !== undefined ? { ipv4: [{ cidr: server }] } : {}),
    up: true,
  };
  const port: WantedLink = {
    ...common,
    name: names.port,
    role: "port",
    ...(nic ? { index: nic.index } : {}),
    mac: { sameAs: names.bridge },
    master: names.bridge,
    ipv4: [],
    ipv6: [],
    up: true,
    learning: false,
  };
  const placeholder: WantedLink = {
    ...common,
    name: names.pod,
    role: "placeholder",
    ...(nic
      ? { mac: nic.mac, mtu: nic.mtu, ipv4: kept(nic, "ipv4"), ipv6: kept(nic, "ipv6") }
      : {}),
    up: false,
  };
  const all = [bridge, port, { ...tapLink(input), present }, placeholder];
  // It is for the CNI to remove the Pod's own interface.
  return present ? all : all.filter(({ role }) => role !== "port");
}

function tapLink({
  nic,
  network,
  names,
  queues,
  owner,
  launcherPid,
}: WantedLinksInput): WantedLink {
  return {
    network: network.name,
    name: names.tap,
    role: "tap",
    present: true,
    ...(nic ? { mtu: nic.mtu } : {}),
    master: names.bridge,
    tap: { queues, owner, labelOf: launcherPid },
    up: true,
  };
}

function gateway(
  nic: PodNic | undefined,
  pod: PodNetwork,
  family: "ipv4" | "ipv6",
): readonly PodAddress[] {
  if (globalAddress(nic, family) === undefined) return [];
  return [{ cidr: formatCidr(masqueradeAddresses(pod, family).gateway) }];
}

function kept(nic: PodNic, family: "ipv4" | "ipv6"): readonly PodAddress[] {
  const cidrs = addressesOf(nic, family);
  return nic.addresses.filter(({ cidr }) => cidrs.includes(cidr));
}

function notPodNetwork({ name }: Network): NetworkSetupError {
  const message = `network ${name} is bound by masquerade but is not the Pod network; give it "pod: {}" or another binding`;
  return new NetworkSetupError("NETWORK_BINDING_INVALID", message, { path: name });
}
