import {
  type BindingPlugins,
  hashedPodInterfaces,
  isOrdinalPodInterface,
  ordinalPodInterfaces,
  primaryNetwork,
} from "@virtkit/api/network";
import type {
  Interface,
  Network,
  VirtualMachineInstance,
  VirtualMachineInstanceNetworkInterface,
} from "@virtkit/api/schema";
import { NetworkSetupError } from "../network-setup-error.ts";
import { interfacesFor } from "./networks-to-wire.ts";
import type { PodNic } from "./pod-nic.ts";

/** How an interface of the guest is bound to a network of the Pod. */
export type BindingKind =
  | "bridge"
  | "masquerade"
  | "passt"
  | "sriov"
  /** A plugin that needs bridge and TAP like the bridge binding, without DHCP. */
  | "managedTap"
  /** A plugin that does its own wiring. */
  | "plugin"
  /** No binding, or an unknown one: an error as soon as it is to be wired. */
  | "unknown";

/** An interface of the guest, its network, and the Pod's interface behind it. */
export interface Binding {
  readonly kind: BindingKind;
  readonly iface: Interface;
  readonly network: Network;
  /** Its position among the interfaces that are wired together. */
  readonly position: number;
  readonly podInterface: string;
  /** The Pod's interface; undefined if it is not there. */
  readonly nic: PodNic | undefined;
  readonly status: VirtualMachineInstanceNetworkInterface | undefined;
}

/**
 * Matches networks, guest interfaces and Pod interfaces. Throws a {@link NetworkSetupError} on a
 * network without an interface, and on two with the same name.
 */
export function bindings(
  vmi: VirtualMachineInstance,
  networks: readonly Network[],
  nics: readonly PodNic[],
  plugins: BindingPlugins = {},
): readonly Binding[] {
  checkNames(vmi, networks);
  const names = podInterfaceNames(vmi, networks, nics);
  return interfacesFor(vmi, networks).map((iface, position) => {
    const network = networks.find(({ name }) => name === iface.name) as Network;
    const podInterface = names.get(iface.name) ?? "";
    return {
      kind: bindingKind(iface, plugins),
      iface,
      network,
      position,
      podInterface,
      nic: nics.find(({ name }) => name === podInterface),
      status: vmi.status?.interfaces?.find(({ name }) => name === iface.name),
    };
  });
}

function checkNames(vmi: VirtualMachineInstance, networks: readonly Network[]): void {
  const interfaces = new Set(
    (vmi.spec?.domain?.devices?.interfaces ?? []).map((iface) => iface.name),
  );
  const seen = new Set<string>();
  for (const { name } of networks) {
    if (seen.has(name)) throw invalid(name, `two networks have the name ${name}; rename one`);
    seen.add(name);
    if (!interfaces.has(name)) {
      throw invalid(name, `network ${name} has no interface of that name; add one, or remove it`);
    }
  }
}

function bindingKind(iface: Interface, plugins: BindingPlugins): BindingKind {
  if (iface.bridge) return "bridge";
  if (iface.masquerade) return "masquerade";
  if (iface.passtBinding) return "passt";
  if (iface.sriov) return "sriov";
  const plugin = iface.binding;
  if (plugin) {
    const known = Object.hasOwn(plugins, plugin.name) ? plugins[plugin.name] : undefined;
    return known?.domainAttachmentType === "managedTap" ? "managedTap" : "plugin";
  }
  return "unknown";
}

/**
 * Interface names in this Pod: ordinal if one of its links is; the status knows the primary one.
 */
function podInterfaceNames(
  vmi: VirtualMachineInstance,
  networks: readonly Network[],
  nics: readonly PodNic[],
): ReadonlyMap<string, string> {
  const ordinal = nics.some(({ name }) => isOrdinalPodInterface(name));
  const names = new Map(ordinal ? ordinalPodInterfaces(networks) : hashedPodInterfaces(networks));
  const primary = primaryNetwork(networks);
  const status = vmi.status?.interfaces?.find(({ name }) => name === primary?.name);
  if (primary && status?.podInterfaceName) names.set(primary.name, status.podInterfaceName);
  return names;
}

function invalid(path: string, message: string): NetworkSetupError {
  return new NetworkSetupError("NETWORK_SPEC_INVALID", message, { path });
}
