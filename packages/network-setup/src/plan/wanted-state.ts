import { names as kubevirtNames, type Names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { Binding } from "./binding.ts";
import { bindingUnknown, podLinkMissing } from "./binding-facts.ts";
import { checkedLinkNames } from "./checked-link-names.ts";
import { bridgeServerAddress } from "./guest-dhcp.ts";
import { interfaceQueues } from "./interface-queues.ts";
import { ipOf, isGlobalUnicast, type PodNic } from "./pod-nic.ts";
import {
  bridgeLinks,
  masqueradeLinks,
  type WantedLink,
  type WantedLinksInput,
} from "./wanted-links.ts";

/** Settings of a whole namespace, in the order in which they are written. */
const settingNames = [
  "net/ipv4/ip_forward",
  "net/ipv6/conf/all/forwarding",
  "net/ipv4/conf/all/arp_ignore",
  "net/ipv4/ping_group_range",
  "net/ipv4/ip_unprivileged_port_start",
] as const;

/** A setting of the namespace that wiring may change. */
export type SettingName = (typeof settingNames)[number];

/** The wanted state of a Pod's namespace. */
export interface WantedState {
  readonly links: readonly WantedLink[];
  /** By the path below `/proc/sys`. */
  readonly settings: Readonly<Partial<Record<SettingName, string>>>;
}

/** Who the launcher is. */
export interface LauncherIdentity {
  /** Whose SELinux label the TAPs get. */
  readonly launcherPid: number;
  /** The platform's names of annotations. Default: those of KubeVirt. */
  readonly names?: Pick<Names, "annotations"> | undefined;
}

const standard = kubevirtNames();

/** The user that QEMU runs as: 107, or root for a VMI that an old release started as root. */
export function tapOwner(
  vmi: VirtualMachineInstance,
  { annotations }: Pick<Names, "annotations"> = standard,
): number {
  const marked = vmi.metadata?.annotations?.[annotations.nonRoot] !== undefined;
  return marked || (vmi.status?.runtimeUser ?? 0) !== 0 ? 107 : 0;
}

/**
 * The state that the given bindings need. Pure. Throws a {@link NetworkSetupError} if the Pod's
 * interface is missing, a network is too small, or a name is too long.
 */
export function wantedState(
  vmi: VirtualMachineInstance,
  bindings: readonly Binding[],
  nics: readonly PodNic[],
  identity: LauncherIdentity,
): WantedState {
  const links: WantedLink[] = [];
  const settings = new Map<SettingName, string>();
  for (const binding of bindings) {
    const wanted = linksOf(vmi, binding, nics, identity);
    for (const [name, value] of settingsOf(binding, wanted)) settings.set(name, value);
    links.push(...wanted);
  }
  const ordered = settingNames.filter((name) => settings.has(name));
  return {
    links,
    settings: Object.fromEntries(ordered.map((name) => [name, settings.get(name) ?? ""])),
  };
}

function linksOf(
  vmi: VirtualMachineInstance,
  binding: Binding,
  nics: readonly PodNic[],
  identity: LauncherIdentity,
): readonly WantedLink[] {
  const { kind, iface, network, podInterface } = binding;
  if (kind === "sriov" || kind === "plugin" || kind === "passt") return [];
  if (kind === "unknown") throw bindingUnknown(binding);
  if (!binding.nic && !(kind === "bridge" && iface.state === "absent")) {
    throw podLinkMissing(binding);
  }
  const names = checkedLinkNames(podInterface, network);
  const input: WantedLinksInput = {
    iface,
    network,
    names,
    // After an earlier run the Pod's interface has its new name, and the old one is the placeholder's.
    nic: (kind === "masquerade" ? undefined : named(nics, names.port)) ?? binding.nic,
    queues: interfaceQueues(vmi, iface),
    owner: tapOwner(vmi, identity.names),
    launcherPid: identity.launcherPid,
  };
  switch (kind) {
    case "masquerade":
      return masqueradeLinks(input);
    case "bridge":
      return bridgeLinks(input, bridgeServerAddress(binding.position));
    case "managedTap":
      return bridgeLinks({ ...input, iface: { ...iface, state: "" } });
  }
}

function settingsOf(
  { kind }: Binding,
  links: readonly WantedLink[],
): readonly (readonly [SettingName, string])[] {
  const ipv4 = links.some((link) => hasGlobal(link.ipv4));
  const ipv6 = links.some((link) => hasGlobal(link.ipv6));
  switch (kind) {
    case "masquerade":
      return [
        ...(ipv4 ? [["net/ipv4/ip_forward", "1"] as const] : []),
        ...(ipv6 ? [["net/ipv6/conf/all/forwarding", "1"] as const] : []),
      ];
    case "bridge":
    case "managedTap":
      // The placeholder must not answer for the address, which is now the guest's.
      return ipv4 ? [["net/ipv4/conf/all/arp_ignore", "1"]] : [];
    case "passt":
      return [
        ["net/ipv4/ping_group_range", "107 107"],
        ["net/ipv4/ip_unprivileged_port_start", "0"],
      ];
    default:
      return [];
  }
}

function hasGlobal(addresses: WantedLink["ipv4"]): boolean {
  return addresses?.some(({ cidr }) => isGlobalUnicast(ipOf(cidr))) ?? false;
}

function named(nics: readonly PodNic[], name: string): PodNic | undefined {
  return nics.find((nic) => nic.name === name);
}
