import type { OwnedFd } from "@virtkit/host-primitives";
import { runIn } from "@virtkit/host-primitives/namespaces";
import type { PodNetwork } from "../apply/pod-network.ts";
import { findLink } from "../netlink/kernel-links.ts";
import { NetworkSetupError } from "../network-setup-error.ts";
import type { GuestServers } from "../plan/guest-part.ts";
import { icmp6Types } from "./router-advertisement.ts";

/**
 * The sockets of one guest interface's servers, opened in its Pod, and what else the servers need
 * to know.
 */
export interface GuestSockets {
  readonly dhcp4?: OwnedFd;
  readonly dhcp6?: OwnedFd;
  readonly router?: OwnedFd;
  /** MAC of the bridge: the servers' identity. */
  readonly serverMac: string;
}

const dhcp4Port = 67;
const dhcp6Port = 547;
const allDhcpServers = "ff02::1:2";
const allRouters = "ff02::2";

/**
 * Opens the sockets that a guest's servers need, in its Pod's namespace and only on its bridge.
 * This needs privileges (ports below 1024, raw ICMPv6), but serving them does not: pass them to an
 * unprivileged process with `sendDescriptors`. Opens no socket for a family that is not served.
 */
export async function openGuestSockets(
  { kernel, namespace }: PodNetwork,
  { link: device, config }: GuestServers,
): Promise<GuestSockets> {
  const link = findLink(kernel, { name: device });
  if (!link) {
    const message = `there is no link ${device} to serve the guest on; wire the Pod first`;
    throw new NetworkSetupError("NETWORK_LINK_MISSING", message, { path: device });
  }
  const opened: OwnedFd[] = [];
  const open = async (spec: Parameters<typeof runIn<"openSocket">>[2]): Promise<OwnedFd> => {
    const { descriptors } = await runIn([namespace], "openSocket", spec);
    opened.push(...descriptors);
    return descriptors[0] as OwnedFd;
  };
  const ipv4 = config.ip !== "" && !config.disabled;
  const ipv6 = config.ipv6 !== "";
  const types = [icmp6Types.routerSolicitation];
  try {
    return {
      serverMac: link.mac,
      ...(ipv4
        ? { dhcp4: await open({ kind: "udp4", port: dhcp4Port, device, broadcast: true }) }
        : {}),
      ...(ipv6
        ? {
            dhcp6: await open({ kind: "udp6", port: dhcp6Port, device, groups: [allDhcpServers] }),
            router: await open({ kind: "icmp6", device, types, groups: [allRouters] }),
          }
        : {}),
    };
  } catch (error) {
    for (const socket of opened) socket.close();
    throw error;
  }
}
