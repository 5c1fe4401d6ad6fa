import { formatMac, parseMac } from "@virtkit/api/addresses";
import { ordinalPodInterfaces, podInterfaceCandidates, wiredNames } from "@virtkit/api/network";
import type { Interface, Network, VirtualMachineInstance } from "@virtkit/api/schema";
import { invalidContext, invalidVmi } from "../converter-error.ts";
import { malformedVmi } from "../malformed-vmi.ts";
import { nameOfAlias } from "../model/alias.ts";
import type { Domain } from "../model/domain.ts";
import type { DomainInterface } from "../model/interface.ts";
import type { PodLink } from "../resolve/environment.ts";

/** The Pod's network when the launcher starts. */
export interface PodNetwork {
  /** How an interface is attached (`tap`), by interface name. */
  readonly attachments: Readonly<Record<string, string>>;
  /** Links in the Pod's network namespace, by name. */
  readonly links: Readonly<Record<string, PodLink>>;
}

/**
 * Connects the network interfaces of a domain to the Pod's TAP devices: device name, hardware address and MTU come
 * from the Pod's links. Returns a new domain.
 *
 * @throws ConverterError if the Pod has no link for an interface's network, or the VMI has the wrong shape.
 */
export function attachTaps(domain: Domain, vmi: VirtualMachineInstance, pod: PodNetwork): Domain {
  try {
    return plugIn(domain, vmi, pod);
  } catch (error) {
    throw malformedVmi(error, vmi);
  }
}

function plugIn(domain: Domain, vmi: VirtualMachineInstance, pod: PodNetwork): Domain {
  const edits = new Map<string, Partial<DomainInterface>>();
  const networks = new Map((vmi.spec.networks ?? []).map((network) => [network.name, network]));
  for (const [at, card] of (vmi.spec.domain.devices?.interfaces ?? []).entries()) {
    const network = networks.get(card.name);
    if (!network || card.state === "absent" || pod.attachments[card.name] !== "tap") continue;
    if (!edits.has(card.name)) edits.set(card.name, tapOf(vmi, card, network, pod, at));
  }
  const interfaces = domain.devices.interfaces.map((card) => {
    const name = nameOfAlias(card.alias) ?? "";
    const edit = edits.get(name);
    // Each TAP device serves one card.
    edits.delete(name);
    return { ...card, ...edit };
  });
  return { ...domain, devices: { ...domain.devices, interfaces } };
}

function tapOf(
  vmi: VirtualMachineInstance,
  card: Interface,
  network: Network,
  { links }: PodNetwork,
  at: number,
): Pick<DomainInterface, "mac" | "mtu" | "target"> {
  if (!ordinalPodInterfaces(vmi.spec.networks ?? []).has(network.name)) {
    const message = `"${network.name}" is neither the Pod network nor a Multus network`;
    throw invalidVmi("spec.networks", message);
  }
  const names = wiredNames(vmi, network, (name) => Object.hasOwn(links, name));
  const link = names && links[names.podInterface];
  if (!link) {
    const wanted = podInterfaceCandidates(vmi, network).join(" or ");
    const message = `the Pod has no link ${wanted} for the network "${network.name}"`;
    throw invalidContext("podLinks", message);
  }
  const path = `spec.domain.devices.interfaces[${at}].macAddress`;
  return {
    mac: { address: card.macAddress ? macOf(card.macAddress, path) : (link.mac ?? "") },
    mtu: { size: link.mtu ?? 0 },
    target: { dev: names.target, managed: "no" },
  };
}

/** In libvirt's notation. */
function macOf(text: string, path: string): string {
  const octets = parseMac(text);
  if (octets) return formatMac(octets);
  throw invalidVmi(path, `"${text}" is not a MAC address; write it as 02:00:00:aa:bb:cc`);
}
