import type { BindingPlugins } from "@virtkit/api/network";
import type { Interface, Network, VirtualMachineInstance } from "@virtkit/api/schema";
import { isNetworkSetupError, NetworkSetupError } from "@virtkit/network-setup/dhcp";
import {
  type BridgeLease,
  bindings,
  type DomainNic,
  domainAttachments,
  domainNic,
  guestServers,
  type PodNic,
  type PredictedLink,
  wiredLink,
} from "@virtkit/network-setup/plan";
import { dhcpForm } from "./network-wiring-form.ts";

/** What the launcher finds. */
interface Wired {
  readonly vmi: VirtualMachineInstance;
  readonly networks: readonly Network[];
  readonly links: readonly PredictedLink[];
  /** By the Pod's interface. */
  readonly leases: ReadonlyMap<string, BridgeLease>;
  readonly plugins: BindingPlugins;
}

/** The launcher's part: what the domain is told of its interfaces, and the servers that are started. */
export function guestAnswer(wired: Wired): unknown {
  const { vmi, networks } = wired;
  const attachments = domainAttachments(vmi, wired.plugins);
  const nics = new Map<string, DomainNic>();
  const dhcp: unknown[] = [];
  const answer: Record<string, unknown> = { attachments: Object.fromEntries(attachments), dhcp };
  try {
    for (const network of networks) {
      const iface = interfacesOf(vmi).find(({ name }) => name === network.name) as Interface;
      if (attachments.get(iface.name) !== "tap") continue;
      const link = wiredLink(vmi, network, wired.links);
      nics.set(iface.name, domainNic(iface, network, link, wired.links));
      const servers = serversOf(wired, iface, network, link?.name ?? "");
      if (servers) dhcp.push(servers);
    }
  } catch (error) {
    if (!isNetworkSetupError(error)) throw error;
    // Where a link or a MAC is wrong KubeVirt's launcher dies.
    Object.assign(
      answer,
      error.code === "NETWORK_DHCP_CONFIG_INVALID" ? { error: error.message } : { panic: true },
    );
  }
  answer["domainInterfaces"] = interfacesOf(vmi)
    .filter((iface) => !iface.sriov && iface.state !== "absent")
    .map(({ name }) => domainForm(name, nics.get(name)));
  return answer;
}

function interfacesOf(vmi: VirtualMachineInstance): readonly Interface[] {
  return vmi.spec?.domain?.devices?.interfaces ?? [];
}

function leaseMissing(path: string): NetworkSetupError {
  const message = `what the guest inherits from ${path} is not known; wire the Pod first`;
  return new NetworkSetupError("NETWORK_DHCP_CONFIG_INVALID", message, { path });
}

function domainForm(name: string, nic: DomainNic | undefined): unknown {
  if (!nic) return { name };
  return { name, mac: nic.mac, mtu: String(nic.mtu), target: nic.target, managed: "no" };
}

function serversOf(
  wired: Wired,
  iface: Interface,
  network: Network,
  podInterface: string,
): unknown {
  const nics: PodNic[] = wired.links.map(({ addresses, master: _, ...link }) => ({
    ...link,
    addresses: addresses.map((cidr) => ({ cidr })),
    routes: [],
  }));
  const [found] = bindings(wired.vmi, [network], nics, wired.plugins);
  const nic = nics.find(({ name }) => name === podInterface);
  const lease = wired.leases.get(podInterface);
  if (!found) return undefined;
  const binding = { ...found, nic, podInterface };
  const servers = guestServers(wired.vmi, binding, { podIps: [], ...(lease ? { lease } : {}) });
  // Nobody found out what the guest inherits: this Pod was wired by somebody else.
  if (found.kind === "bridge" && !lease) throw leaseMissing(podInterface);
  if (!servers) return undefined;
  return {
    config: dhcpForm(servers.config),
    dhcpOptions: iface.dhcpOptions ?? null,
    podInterface,
    serverInterface: servers.link,
    started: !servers.config.disabled,
  };
}
