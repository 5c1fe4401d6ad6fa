import type { VirtualMachineInstance } from "@virtkit/api/schema";
import {
  discoverNics,
  openPodNetwork,
  type PodNetwork,
  unwirePod,
  type WirePodOptions,
  wirePod,
} from "@virtkit/network-setup/apply";
import type { GuestServers, NetworkPlan } from "@virtkit/network-setup/plan";
import { type GuestSockets, openGuestSockets } from "@virtkit/network-setup/serve";
import type { Sandbox } from "../sandbox/sandbox.ts";

/** How the wiring is done; see `wirePod` of network-setup. */
export type WiringOptions = Pick<
  WirePodOptions,
  "names" | "plugins" | "portRanges" | "primaryFamily" | "onOperation" | "signal"
>;

/** The servers of one guest interface, with sockets that are open in the Pod. */
export interface ServedInterface {
  /** The VMI's interface, and network. */
  readonly name: string;
  /** The guest's MAC: nobody else is answered. */
  readonly mac: string;
  readonly servers: GuestServers;
  readonly sockets: GuestSockets;
}

/** Who answers the guest's DHCP: its launcher. */
export interface SocketReceiver {
  /** Networks that it already serves. */
  served(): Promise<readonly string[]>;
  take(opened: readonly ServedInterface[]): Promise<void>;
}

/** A link of the wired Pod, as the domain needs to know it. */
export type PodLinks = Readonly<Record<string, { readonly mac: string; readonly mtu: number }>>;

/** Runs a function in the Pod's network and closes it. */
export async function inPodNetwork<T>(
  { network }: Pick<Sandbox, "network">,
  use: (network: PodNetwork) => Promise<T> | T,
): Promise<T> {
  using opened = await openPodNetwork(network);
  return await use(opened);
}

/** Wires the Pod; does nothing if it is wired. Returns the plans in force, the latest last. */
export async function wireGuest(
  vmi: VirtualMachineInstance,
  sandbox: Sandbox,
  journal: WirePodOptions["journal"],
  options: WiringOptions,
): Promise<readonly NetworkPlan[]> {
  const launcherPid = sandbox.process.pid;
  return await inPodNetwork(sandbox, (network) =>
    wirePod(vmi, network, { primaryFamily: "ipv4", ...options, journal, launcherPid }),
  );
}

export async function unwireGuest(
  sandbox: Pick<Sandbox, "network">,
  journal: WirePodOptions["journal"],
  options: Pick<WiringOptions, "onOperation" | "signal">,
): Promise<void> {
  await inPodNetwork(sandbox, (network) => unwirePod(network, { ...options, journal }));
}

/** Links of the Pod's namespace as they are now, by name. */
export async function podLinks(sandbox: Pick<Sandbox, "network">): Promise<PodLinks> {
  return await inPodNetwork(sandbox, (network) =>
    Object.fromEntries(discoverNics(network).map(({ name, mac, mtu }) => [name, { mac, mtu }])),
  );
}

/**
 * Opens the sockets of the guest's servers, except for networks that are already served; the caller closes them
 * once they are handed over.
 */
export async function openServers(
  sandbox: Pick<Sandbox, "network">,
  plans: readonly NetworkPlan[],
  without: readonly string[] = [],
): Promise<readonly ServedInterface[]> {
  const served = plans
    .flatMap(({ bindings }) => bindings)
    .filter(({ dhcp, network }) => dhcp && !without.includes(network));
  return await inPodNetwork(sandbox, async (network) => {
    const opened: ServedInterface[] = [];
    try {
      for (const { network: name, dhcp, domain } of served) {
        if (!dhcp) continue;
        const sockets = await openGuestSockets(network, dhcp);
        opened.push({ name, mac: dhcp.config.mac || (domain?.mac ?? ""), servers: dhcp, sockets });
      }
      return opened;
    } catch (error) {
      closeServers(opened);
      throw error;
    }
  });
}

export function closeServers(opened: readonly ServedInterface[]): void {
  for (const { sockets } of opened) {
    for (const socket of [sockets.dhcp4, sockets.dhcp6, sockets.router]) socket?.close();
  }
}
