import { encodeClasslessRoutes } from "@virtkit/network-setup/dhcp";
import type {
  BridgeLease,
  GuestDhcp,
  PodNic,
  PodRoute,
  PredictedLink,
  WantedLink,
  WantedState,
} from "@virtkit/network-setup/plan";

/** A link as recorded cases describe it. */
export interface RecordedLink {
  readonly name: string;
  readonly index: number;
  readonly type: string;
  readonly mac?: string;
  readonly mtu: number;
  readonly state: string;
  readonly master?: number;
  readonly addresses?: readonly string[];
}

/** A route as recorded cases describe it. */
export interface RecordedRoute {
  readonly dst?: string;
  readonly gw?: string;
  readonly dev: string;
}

/** Recorded links and routes in our form. */
export function podNics(
  links: readonly RecordedLink[],
  routes: readonly RecordedRoute[],
): readonly PodNic[] {
  return links.map(({ addresses, mac, ...link }) => ({
    ...link,
    mac: mac ?? "",
    addresses: (addresses ?? []).map((cidr) => ({ cidr })),
    routes: routes
      .filter(({ dev }) => dev === link.name)
      .map(({ dev: _, ...route }): PodRoute => ({ family: familyOf(route), ...route })),
  }));
}

/** Routes as KubeVirt reports them: IPv4 first, only those of existing links, `null` for none. */
export function routesForm(
  routes: readonly RecordedRoute[],
  links: readonly RecordedLink[],
): unknown {
  const known = routes.filter(({ dev }) => links.some(({ name }) => name === dev));
  const ordered = (["ipv4", "ipv6"] as const).flatMap((family) =>
    known.filter((route) => familyOf(route) === family),
  );
  if (ordered.length === 0) return null;
  return ordered.map((route) => ({
    destination: route.dst ?? (familyOf(route) === "ipv4" ? "0.0.0.0/0" : "::/0"),
    ...(route.gw === undefined ? {} : { "next-hop-address": route.gw }),
    "next-hop-interface": route.dev,
    "table-id": 254,
  }));
}

function familyOf({ dst, gw }: { dst?: string; gw?: string }): "ipv4" | "ipv6" {
  return (dst ?? gw ?? "").includes(":") ? "ipv6" : "ipv4";
}

/** The wanted state in KubeVirt's nmstate-like form. */
export function desiredForm({ links, settings }: WantedState): unknown {
  const interfaces = links.map(wantedForm);
  const setting = (name: keyof typeof settings): string | undefined => settings[name];
  const arpIgnore = setting("net/ipv4/conf/all/arp_ignore");
  const pingRange = setting("net/ipv4/ping_group_range");
  const firstPort = setting("net/ipv4/ip_unprivileged_port_start");
  return {
    ...(interfaces.length > 0 ? { interfaces } : {}),
    "linux-stack": {
      ipv4: {
        ...(setting("net/ipv4/ip_forward") ? { forwarding: true } : {}),
        ...(arpIgnore ? { "arp-ignore": Number(arpIgnore) } : {}),
        ...(pingRange ? { "ping-group-range": pingRange.split(" ").map(Number) } : {}),
        ...(firstPort ? { "unprivileged-port-start": Number(firstPort) } : {}),
      },
      ipv6: setting("net/ipv6/conf/all/forwarding") ? { forwarding: true } : {},
    },
  };
}

const typeNames = { bridge: "bridge", tap: "tap", placeholder: "dummy", port: undefined } as const;

function wantedForm(link: WantedLink): unknown {
  const { role, tap, mac, up, present } = link;
  const upOrNot = up ? "up" : undefined;
  return {
    name: link.name,
    ...defined("index", link.index),
    ...defined("type", typeNames[role]),
    ...defined("state", present ? upOrNot : "absent"),
    ...(typeof mac === "string" ? defined("mac-address", mac) : {}),
    ...(typeof mac === "object" ? { "copy-mac-from": mac.sameAs } : {}),
    ...defined("mtu", link.mtu),
    ...defined("controller", link.master),
    ...(tap ? { tap: tapForm(tap) } : {}),
    IPv4: familyForm(link.ipv4),
    IPv6: familyForm(link.ipv6),
    "linux-stack": {
      ...(link.routeLocalNet ? { "ip4-route-local-net": true } : {}),
      ...(link.learning === false ? { "port-learning": false } : {}),
    },
    Metadata: { NetworkName: link.network, Pid: tap?.labelOf ?? 0 },
  };
}

function tapForm({ queues, owner }: NonNullable<WantedLink["tap"]>): unknown {
  return { ...defined("queues", queues), ...defined("UID", owner), ...defined("GID", owner) };
}

function familyForm(addresses: WantedLink["ipv4"]): unknown {
  if (!addresses) return {};
  if (addresses.length === 0) return { enabled: false };
  return {
    enabled: true,
    address: addresses.map(({ cidr }) => {
      const slash = cidr.lastIndexOf("/");
      return {
        IP: cidr.slice(0, slash),
        ...defined("prefix-length", Number(cidr.slice(slash + 1))),
      };
    }),
  };
}

/** Go leaves out empty values. */
function defined(name: string, value: unknown): object {
  return value === undefined || value === "" || value === 0 ? {} : { [name]: value };
}

/** A link afterwards; its master by name. */
export function linkForm(link: PredictedLink, links: readonly PredictedLink[]): unknown {
  const { name, index, mac, mtu, state, addresses } = link;
  const master = links.find((other) => other.index === link.master)?.name ?? "";
  return { name, index, mac, mtu, state, addresses, master };
}

/** What the node agent stores for the launcher of a bridged guest. */
export function leaseForm(lease: BridgeLease): unknown {
  const unknown = { name: "", mtu: 0, ipv6: "", serverIp: "", serverIpv6: "", subdomain: "" };
  return dhcpForm({ ...unknown, ...lease });
}

/** A DHCP configuration under the names of the recorded cases. */
export function dhcpForm({
  serverIp,
  serverIpv6,
  disabled,
  routes,
  ...config
}: GuestDhcp): unknown {
  return {
    ...config,
    ipamDisabled: disabled,
    advertisingIP: serverIp,
    advertisingIPv6: serverIpv6,
    ...(routes.length > 0
      ? { routes, routesOption: Buffer.from(encodeClasslessRoutes(routes)).toString("hex") }
      : {}),
  };
}
