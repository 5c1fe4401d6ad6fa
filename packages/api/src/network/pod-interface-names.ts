import { sha256 } from "../hash/sha256.ts";
import type { Network } from "../schema/index.ts";
import { text } from "../shape.ts";
import { byName, type InterfaceStatus, isSecondary, primaryNetwork } from "./interfaces.ts";
import type { NetworkStatus } from "./network-status.ts";

/** From a network's name to the name of its interface in the Pod. */
export type PodInterfaceNames = ReadonlyMap<string, string>;

/** Name of the Pod's first interface, unless the CNI chose another. */
export const primaryPodInterface = "eth0";

/**
 * Digits of the hash in a name: with `pod` before it and `-nic` after it (the name of the renamed interface
 * under the bridge binding) the name still fits into the kernel's 15 characters.
 */
const hashLength = 11;

/** The Pod interface of a secondary network: derived only from its name, so it never changes. */
export function hashedPodInterface(networkName: string): string {
  return `pod${sha256(networkName).slice(0, hashLength)}`;
}

/** The present names: `eth0`, and a hash for each secondary network. */
export function hashedPodInterfaces(networks: readonly Network[]): PodInterfaceNames {
  return named(networks, (network) => hashedPodInterface(text(network.name)));
}

/** The earlier names: `eth0`, `net1`, `net2`, ... in the order of the networks. */
export function ordinalPodInterfaces(networks: readonly Network[]): PodInterfaceNames {
  return named(networks, (_, index) => `net${index + 1}`);
}

/** The names in this Pod: ordinal if it has one ordinal interface, otherwise hashed. */
export function podInterfaces(
  networks: readonly Network[],
  statuses: readonly NetworkStatus[],
): PodInterfaceNames {
  return hasOrdinalInterface(statuses)
    ? ordinalPodInterfaces(networks)
    : hashedPodInterfaces(networks);
}

/** The Pod interface of one network; the status has the CNI's name for the primary one. */
export function podInterface(network: Network, statuses: readonly InterfaceStatus[]): string {
  if (isSecondary(network)) return hashedPodInterface(text(network.name));
  const status = statuses.find(({ name }) => name === network.name);
  return text(status?.podInterfaceName) || primaryPodInterface;
}

/** Whether a name is `net` and digits. */
export function isOrdinalPodInterface(name: string): boolean {
  return /^net[0-9]+$/.test(name);
}

/** Whether any interface of the Pod has an ordinal name. */
export function hasOrdinalInterface(statuses: readonly NetworkStatus[]): boolean {
  return statuses.some(({ interface: name }) => isOrdinalPodInterface(name));
}

/**
 * Whether the secondary interfaces may have ordinal names, judged by the VMI's status.
 *
 * The first secondary network whose name is known decides. If none is known the answer is yes: unplugging an
 * interface would renumber the others, so the safe answer is the one that forbids it.
 */
export function mayHaveOrdinalInterfaces(
  networks: readonly Network[],
  statuses: readonly InterfaceStatus[],
): boolean {
  const secondary = networks.filter(isSecondary);
  const known = byName(statuses);
  for (const network of secondary) {
    const name = text(known.get(text(network.name))?.podInterfaceName);
    if (name) return isOrdinalPodInterface(name);
  }
  return secondary.length > 0;
}

function named(
  networks: readonly Network[],
  secondaryName: (network: Network, index: number) => string,
): PodInterfaceNames {
  const names = new Map(
    networks
      .filter(isSecondary)
      .map((network, index) => [text(network.name), secondaryName(network, index)]),
  );
  const primary = primaryNetwork(networks);
  if (primary) names.set(text(primary.name), primaryPodInterface);
  return names;
}
