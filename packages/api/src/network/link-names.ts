import type { Network, VirtualMachineInstance } from "../schema/index.ts";
import { interfaceStatusesOf, isSecondary, networksOf } from "./interfaces.ts";
import { ordinalPodInterfaces, podInterface, primaryPodInterface } from "./pod-interface-names.ts";

/**
 * The names of the links that belong to one interface of the Pod. They are KubeVirt's, so that links made by
 * KubeVirt are found.
 */
export interface LinkNames {
  /** The CNI's name for it; later the placeholder that keeps its address. */
  readonly pod: string;
  readonly bridge: string;
  /** The interface itself once it is a port of the bridge. */
  readonly port: string;
  readonly tap: string;
}

/** The TAP of the Pod's own network. */
export const primaryTap = "tap0";

/** The names that belong to a Pod interface. The kernel refuses names of more than 15 characters. */
export function linkNames(pod: string, network: Network): LinkNames {
  const stem = pod.startsWith("pod") ? pod.slice(3) : pod;
  const tap = isSecondary(network) ? `tap${pod.slice(3)}` : primaryTap;
  return { pod, bridge: `k6t-${stem}`, port: `${stem}-nic`, tap };
}

/** The bridge that the traffic of a masqueraded guest comes from. */
export const primaryBridge: string = linkNames(primaryPodInterface, { name: "", pod: {} }).bridge;

/**
 * Whether a TAP is named by its network's position, as in old Pods: unplugging a card would rename the others.
 */
export function isOrdinalTap(name: string): boolean {
  return name !== primaryTap && /^tap\d+$/.test(name);
}

/** The links of a network in a wired Pod. */
export interface WiredNames {
  readonly podInterface: string;
  /** The device that QEMU opens. */
  readonly target: string;
}

/** The names that a network's link may have in the Pod: the present one, then the ordinal one of an old Pod. */
export function podInterfaceCandidates(
  vmi: VirtualMachineInstance,
  network: Network,
): readonly string[] {
  const ordinal = ordinalPodInterfaces(networksOf(vmi.spec)).get(network.name);
  const today = podInterface(network, interfaceStatusesOf(vmi));
  return ordinal === undefined ? [today] : [today, ordinal];
}

/** The links of a network in a wired Pod; undefined if there are none. */
export function wiredNames(
  vmi: VirtualMachineInstance,
  network: Network,
  isLink: (name: string) => boolean,
): WiredNames | undefined {
  const found = podInterfaceCandidates(vmi, network).find(isLink);
  if (found === undefined) return undefined;
  const { tap } = linkNames(found, network);
  // A binding plugin may have turned the Pod's own interface into a TAP.
  return { podInterface: found, target: isLink(tap) ? tap : found };
}
