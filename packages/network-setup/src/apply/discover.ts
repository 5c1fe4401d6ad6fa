import { hasErrno } from "@virtkit/host-primitives";
import { runIn } from "@virtkit/host-primitives/namespaces";
import { listAddresses } from "../netlink/kernel-addresses.ts";
import { listLinks } from "../netlink/kernel-links.ts";
import { listNeighbours, listRoutes } from "../netlink/kernel-routes.ts";
import type { PodNic } from "../plan/pod-nic.ts";
import type { SettingName } from "../plan/wanted-state.ts";
import type { PodNetwork } from "./pod-network.ts";

/** A Pod's network as found: plain data. */
export interface PodNetworkState {
  readonly nics: readonly PodNic[];
  /** Settings of the namespace that wiring may change; absent if the kernel has none (no IPv6). */
  readonly settings: Readonly<Partial<Record<SettingName, string>>>;
}

const settingNames: readonly SettingName[] = [
  "net/ipv4/ip_forward",
  "net/ipv6/conf/all/forwarding",
  "net/ipv4/conf/all/arp_ignore",
  "net/ipv4/ping_group_range",
  "net/ipv4/ip_unprivileged_port_start",
];

/** Reads links, addresses, routes and permanent neighbours of a namespace. Changes nothing. */
export function discoverNics({ kernel }: PodNetwork): readonly PodNic[] {
  const links = listLinks(kernel);
  const addresses = listAddresses(kernel);
  const routes = listRoutes(kernel);
  const neighbours = listNeighbours(kernel);
  return links.map(({ up: _, learning: __, master, ...link }) => {
    const permanent = of(neighbours, link.index);
    return {
      ...link,
      ...(master === undefined ? {} : { master }),
      addresses: of(addresses, link.index),
      routes: of(routes, link.index),
      ...(permanent.length > 0 ? { neighbours: permanent } : {}),
    };
  });
}

/** Everything in a namespace that wiring may change. */
export async function discover(network: PodNetwork): Promise<PodNetworkState> {
  const settings: Partial<Record<SettingName, string>> = {};
  for (const name of settingNames) {
    try {
      const { value } = await runIn([network.namespace], "readSysctl", { name });
      settings[name] = value.replaceAll(/\s+/g, " ");
    } catch (error) {
      if (!hasErrno(error, "ENOENT")) throw error;
    }
  }
  return { nics: discoverNics(network), settings };
}

function of<T extends { readonly index: number }>(
  items: readonly T[],
  index: number,
): readonly Omit<T, "index">[] {
  return items.filter((item) => item.index === index).map(({ index: _, ...item }) => item);
}
