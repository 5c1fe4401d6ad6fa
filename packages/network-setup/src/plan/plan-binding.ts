import type { BindingPlugins } from "@virtkit/api/network";
import type { DHCPOptions, VirtualMachineInstance } from "@virtkit/api/schema";
import { type Binding, type BindingKind, bindings } from "./binding.ts";
import { type BindingFacts, bindingFacts } from "./binding-facts.ts";
import { bindingNat, type NatOptions } from "./binding-nat.ts";
import { type DomainNic, domainAttachments, domainNic, wiredLink } from "./domain-nic.ts";
import { bridgeDhcp, bridgeServerAddress, type GuestDhcp, masqueradeDhcp } from "./guest-dhcp.ts";
import { handedNetworks, type WiringFlow } from "./handed-networks.ts";
import { linkNames } from "./link-names.ts";
import { linkSteps } from "./link-steps.ts";
import type { NatTable } from "./nat-rules.ts";
import type { Operation, Step } from "./operation.ts";
import type { PodNic } from "./pod-nic.ts";
import { linkModel } from "./predict-links.ts";
import { type SettingName, type WantedState, wantedState } from "./wanted-state.ts";

/** What {@link planBinding} needs to know besides the VMI and its Pod's interfaces. */
export interface PlanOptions extends NatOptions {
  /** Default `startup`. */
  readonly flow?: WiringFlow;
  /** Process whose SELinux label the TAPs get. Default: none, 0. */
  readonly launcherPid?: number;
  /** Registered binding plugins. */
  readonly plugins?: BindingPlugins;
  /** The cluster's first IP family; needed where the Pod has both. */
  readonly primaryFamily?: "ipv4" | "ipv6";
  /** Networks that an earlier plan has wired. */
  readonly wired?: readonly string[];
  /** Settings of the namespace as they were found, for the undo. */
  readonly settings?: Readonly<Partial<Record<SettingName, string>>>;
}

/** What is planned for one interface of the guest. */
export interface BindingPlan {
  readonly network: string;
  readonly kind: BindingKind;
  readonly podInterface: string;
  readonly podIps: readonly string[];
  /** The domain's part; absent where QEMU gets no TAP. */
  readonly domain?: DomainNic;
  /** The guest's servers; absent where it has none. */
  readonly dhcp?: GuestServers;
}

/** The servers of one guest interface. */
export interface GuestServers {
  /** The bridge that they listen on. */
  readonly link: string;
  readonly config: GuestDhcp;
  readonly options?: DHCPOptions;
}

/** How a Pod's network becomes the guest's: plain data, printable, storable and comparable. */
export interface NetworkPlan {
  readonly bindings: readonly BindingPlan[];
  /** In the order in which they are carried out; undone in the reverse order. */
  readonly steps: readonly Step[];
}

/**
 * Plans the wiring of a VMI's networks in its Pod: pure, nothing is touched. Networks that are wired
 * already are left out of it, unless they are to be taken out; then a plan may have no steps. Throws a {@link NetworkSetupError} that names the network where
 * the Pod's interface is missing, the spec makes no sense, or a name or a network does not fit.
 */
export function planBinding(
  vmi: VirtualMachineInstance,
  nics: readonly PodNic[],
  options: PlanOptions = {},
): NetworkPlan {
  const networks = handedNetworks(vmi, options.flow ?? "startup");
  const wired = options.wired ?? [];
  // What is wired stays as it is: its interface is no longer what the CNI left.
  const todo = bindings(vmi, networks, nics, options.plugins)
    .filter(({ iface, network }) => wired.includes(network.name) === (iface.state === "absent"))
    // By its place in the spec, so that a bridge that is plugged later has a server address of its own.
    .map((binding) => ({ ...binding, position: placeInSpec(vmi, binding.iface.name) }));
  const present = todo.filter(({ iface }) => iface.state !== "absent");
  const facts = present.map((binding) => bindingFacts(binding, options.primaryFamily));
  const steps = hasWork(todo, wired) ? planSteps(vmi, todo, nics, options) : [];
  const after = linkModel(nics);
  for (const { operation } of steps) after.apply(operation);
  const attachments = domainAttachments(vmi, options.plugins);
  return {
    bindings: present.map((binding, index) => {
      const { kind, network, podInterface, iface } = binding;
      const { podIps } = facts[index] as BindingFacts;
      const dhcp = guestServers(vmi, binding, facts[index] as BindingFacts);
      const link = wiredLink(vmi, network, after.links);
      return {
        network: network.name,
        kind,
        podInterface,
        podIps,
        ...(attachments.get(iface.name) === "tap"
          ? { domain: domainNic(iface, network, link, after.links) }
          : {}),
        ...(dhcp ? { dhcp } : {}),
      };
    }),
    steps,
  };
}

/** Whether a network waits to be wired, or a wired one to be taken out. */
export function hasWork(all: readonly Binding[], wired: readonly string[]): boolean {
  return all.some(({ kind, iface, network }) =>
    iface.state === "absent"
      ? wired.includes(network.name)
      : kind !== "sriov" && !wired.includes(network.name),
  );
}

function planSteps(
  vmi: VirtualMachineInstance,
  all: readonly Binding[],
  nics: readonly PodNic[],
  options: PlanOptions,
): readonly Step[] {
  const wanted = wantedState(vmi, all, nics, { launcherPid: options.launcherPid ?? 0 });
  return wiringSteps(nics, wanted, bindingNat(vmi, all, options), options.settings);
}

/** The steps from what is there to what is wanted: links, then settings, then the NAT in one piece. */
export function wiringSteps(
  nics: readonly PodNic[],
  wanted: WantedState,
  nat: readonly NatTable[],
  found: PlanOptions["settings"] = {},
): readonly Step[] {
  const settings = [...wanted.settings].map(([name, value]): Step => {
    const before = found[name];
    const undo: Operation[] =
      before === undefined ? [] : [{ kind: "setSysctl", name, value: before }];
    return { network: "", operation: { kind: "setSysctl", name, value }, undo };
  });
  const natSteps: Step[] =
    nat.length === 0
      ? []
      : [
          {
            network: "",
            operation: { kind: "addNat", tables: nat },
            undo: [{ kind: "deleteNat", tables: nat }],
          },
        ];
  return [...linkSteps(nics, wanted.links), ...settings, ...natSteps];
}

/** The servers of a binding; undefined where it has none. */
export function guestServers(
  vmi: VirtualMachineInstance,
  { kind, iface, network, nic, podInterface }: Binding,
  { lease }: BindingFacts,
): GuestServers | undefined {
  const subdomain = vmi.spec?.subdomain ?? "";
  const options = iface.dhcpOptions ? { options: iface.dhcpOptions } : {};
  if (kind === "masquerade" && nic) {
    const link = linkNames(podInterface, network).bridge;
    return { link, config: masqueradeDhcp(nic, network.pod ?? {}, subdomain), ...options };
  }
  if (kind === "bridge" && nic && lease) {
    const link = linkNames(podInterface, network).bridge;
    const server = bridgeServerAddress(placeInSpec(vmi, iface.name));
    return { link, config: bridgeDhcp(lease, nic, server, subdomain), ...options };
  }
  return undefined;
}

function placeInSpec(vmi: VirtualMachineInstance, name: string): number {
  const interfaces = vmi.spec?.domain?.devices?.interfaces ?? [];
  return interfaces.findIndex((iface) => iface.name === name);
}
