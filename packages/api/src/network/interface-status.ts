import type { Network, VirtualMachineInstance } from "../schema/index.ts";
import { text } from "../shape.ts";
import { addInfoSource, removeInfoSource } from "./info-source.ts";
import {
  byName,
  type InterfaceStatus,
  interfaceStatusesOf,
  isFromResourceClaim,
  isSecondary,
  networksOf,
  primaryNetwork,
} from "./interfaces.ts";
import {
  type AnnotatedPod,
  type NetworkStatus,
  networkStatuses,
  primaryInterfaceName,
  statusesByInterface,
} from "./network-status.ts";
import { podInterfaces, primaryPodInterface } from "./pod-interface-names.ts";

/**
 * `status.interfaces` of a VMI as the controller knows it from the Pod: the primary interface first, then the
 * secondary ones in the order of the networks, then those from resource claims, then those that only the guest
 * knows. What the node reported about an interface (addresses, link) is kept.
 */
export function interfaceStatuses(
  vmi: VirtualMachineInstance,
  pod: AnnotatedPod | undefined,
): readonly InterfaceStatus[] {
  const networks = networksOf(vmi?.spec);
  const reported = interfaceStatusesOf(vmi);
  const attached = networkStatuses(pod);
  const known = byName(networks);
  return [
    ...primary(networks, reported, attached),
    ...secondary(networks, reported, attached),
    ...reported.filter(({ name }) => isFromResourceClaim(known.get(text(name)))),
    ...reported.filter(({ name }) => !known.has(text(name))),
  ];
}

function primary(
  networks: readonly Network[],
  reported: readonly InterfaceStatus[],
  attached: readonly NetworkStatus[],
): readonly InterfaceStatus[] {
  const network = primaryNetwork(networks);
  if (!network) return [];
  const podInterfaceName = primaryInterfaceName(attached) ?? primaryPodInterface;
  const status = reported.find(({ name }) => name === network.name);
  return [{ ...(status ?? { name: text(network.name) }), podInterfaceName }];
}

function secondary(
  networks: readonly Network[],
  reported: readonly InterfaceStatus[],
  attached: readonly NetworkStatus[],
): readonly InterfaceStatus[] {
  const names = podInterfaces(networks, attached);
  const present = statusesByInterface(attached);
  return networks.filter(isSecondary).flatMap((network) => {
    const name = text(network.name);
    const podInterfaceName = names.get(name) ?? "";
    const status = reported.find((item) => item.name === name);
    const isPresent = present.has(podInterfaceName);
    if (!status && !isPresent) return [];
    const before = text(status?.infoSource);
    const infoSource = isPresent
      ? addInfoSource(before, "multus-status")
      : removeInfoSource(before, "multus-status");
    const { infoSource: _, ...rest } = status ?? { name };
    return [{ ...rest, ...(infoSource ? { infoSource } : {}), podInterfaceName }];
  });
}
