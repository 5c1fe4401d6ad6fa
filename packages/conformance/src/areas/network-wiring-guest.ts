import { type BindingPlugins, domainAttachments, interfacesOf } from "@virtkit/api/network";
import type { Interface, Network, VirtualMachineInstance } from "@virtkit/api/schema";
import { isNetworkSetupError } from "@virtkit/network-setup/dhcp";
import {
  type BridgeLease,
  type DomainNic,
  type GuestPart,
  type GuestServers,
  guestPart,
  type PredictedLink,
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

/** The launcher's part: what the domain gets for its interfaces, and the servers that are started. */
export function guestAnswer({ vmi, networks, links, leases, plugins }: Wired): unknown {
  const nics = new Map<string, DomainNic>();
  const dhcp: unknown[] = [];
  const attachments = domainAttachments(vmi, plugins);
  const answer: Record<string, unknown> = { attachments, dhcp };
  try {
    for (const network of networks) {
      const part = guestPart(vmi, network, { links, leases }, plugins);
      if (!part) continue;
      nics.set(network.name, part.domain);
      const iface = interfacesOf(vmi.spec).find(({ name }) => name === network.name);
      if (part.dhcp) dhcp.push(serversForm(part, part.dhcp, iface));
      if (!iface?.bridge || leases.has(part.podInterface)) continue;
      // Somebody else wired the Pod: KubeVirt's launcher gives up.
      answer["error"] = `what the guest inherits from ${part.podInterface} is unknown`;
      break;
    }
  } catch (error) {
    if (!isNetworkSetupError(error)) throw error;
    // Where a link or a MAC is wrong KubeVirt's launcher dies.
    answer["panic"] = true;
  }
  answer["domainInterfaces"] = interfacesOf(vmi.spec)
    .filter((iface) => !iface.sriov && iface.state !== "absent")
    .map(({ name }) => domainForm(name, nics.get(name)));
  return answer;
}

function domainForm(name: string, nic: DomainNic | undefined): unknown {
  if (!nic) return { name };
  return { name, mac: nic.mac, mtu: String(nic.mtu), target: nic.target, managed: "no" };
}

function serversForm(
  { podInterface }: GuestPart,
  { link, config }: GuestServers,
  iface: Interface | undefined,
): unknown {
  return {
    config: dhcpForm(config),
    dhcpOptions: iface?.dhcpOptions ?? null,
    podInterface,
    serverInterface: link,
    started: !config.disabled,
  };
}
