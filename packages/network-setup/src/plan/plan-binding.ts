import type { Names } from "@virtkit/api/names";
import type { BindingPlugins } from "@virtkit/api/network";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { isNetworkSetupError, NetworkSetupError } from "../network-setup-error.ts";
import { type Binding, type BindingKind, bindings } from "./binding.ts";
import { type BindingFacts, bindingFacts } from "./binding-facts.ts";
import { bindingNat, type NatOptions } from "./binding-nat.ts";
import { checkSpec } from "./check-spec.ts";
import type { DomainNic } from "./domain-nic.ts";
import type { BridgeLease } from "./guest-dhcp.ts";
import { type GuestServers, guestPart, placeInSpec } from "./guest-part.ts";
import { linkSteps } from "./link-steps.ts";
import type { NatTable } from "./nat-rules.ts";
import { networksToWire, type WiringFlow } from "./networks-to-wire.ts";
import type { Operation, Step } from "./operation.ts";
import type { PodNic } from "./pod-nic.ts";
import { linkModel } from "./predict-links.ts";
import { type SettingName, type WantedState, wantedState } from "./wanted-state.ts";

/** What {@link planBinding} needs in addition to the VMI and its Pod's interfaces. */
export interface PlanOptions extends NatOptions {
  /** Default `startup`. */
  readonly flow?: WiringFlow;
  /** Process whose SELinux label the TAPs get. Default: none, 0. */
  readonly launcherPid?: number;
  /** The platform's names of annotations. Default: those of KubeVirt. */
  readonly names?: Pick<Names, "annotations">;
  /** Registered binding plugins. */
  readonly plugins?: BindingPlugins;
  /** The cluster's first IP family; needed if the Pod has both. */
  readonly primaryFamily?: "ipv4" | "ipv6";
  /** Networks that an earlier plan has wired. */
  readonly wired?: readonly string[];
  /** Settings of the namespace as found, for the undo. */
  readonly settings?: Readonly<Partial<Record<SettingName, string>>>;
}

/** The plan for one interface of the guest. */
export interface BindingPlan {
  readonly network: string;
  readonly kind: BindingKind;
  readonly podInterface: string;
  readonly podIps: readonly string[];
  /** The domain's part; absent if QEMU gets no TAP. */
  readonly domain?: DomainNic;
  /** The guest's servers; absent if it has none. */
  readonly dhcp?: GuestServers;
}

/**
 * How a Pod's network is connected to the guest: plain data that can be printed, stored and
 * compared.
 */
export interface NetworkPlan {
  readonly bindings: readonly BindingPlan[];
  /** What the namespace should look like; absent if there is nothing to do. */
  readonly wanted?: WantedState;
  /** In the order in which they are carried out; undone in the reverse order. */
  readonly steps: readonly Step[];
}

/** What to do in the Pod's namespace, before the guest's part is known. */
export interface WiringPlan extends Pick<NetworkPlan, "wanted" | "steps"> {
  /** The bindings that it wires, with what was found of the Pod's interface. */
  readonly present: readonly (Binding & BindingFacts)[];
}

/**
 * Plans the wiring of a VMI's networks in its Pod: pure, nothing is touched. Leaves out networks
 * that are already wired, unless they are to be removed; a plan may thus have no steps. Throws a
 * {@link NetworkSetupError} that names the network if the Pod's interface is missing, the spec
 * makes no sense, or a name or a network does not fit. The error is `final` if another attempt
 * would fail again.
 */
export function planBinding(
  vmi: VirtualMachineInstance,
  nics: readonly PodNic[],
  options: PlanOptions = {},
): NetworkPlan {
  const { present, ...work } = planWiring(vmi, nics, options);
  const after = linkModel(nics);
  for (const { operation } of work.steps) after.apply(operation);
  const leases = new Map<string, BridgeLease>();
  for (const { podInterface, lease } of present) if (lease) leases.set(podInterface, lease);
  return {
    bindings: present.map(({ kind, network, podInterface, podIps }) => {
      const part = guestPart(vmi, network, { links: after.links, leases }, options.plugins);
      return { network: network.name, kind, ...part, podInterface, podIps };
    }),
    ...work,
  };
}

/**
 * The node agent's half of {@link planBinding}: what it finds and what it does. Throws the same
 * errors.
 */
export function planWiring(
  vmi: VirtualMachineInstance,
  nics: readonly PodNic[],
  options: PlanOptions = {},
): WiringPlan {
  checkSpec(vmi);
  const networks = networksToWire(vmi, options.flow ?? "startup");
  const wired = options.wired ?? [];
  // What is wired stays as it is: its interface is no longer as the CNI left it.
  const todo = bindings(vmi, networks, nics, options.plugins)
    .filter(({ iface, network }) => wired.includes(network.name) === (iface.state === "absent"))
    .map((binding) => ({ ...binding, position: placeInSpec(vmi, binding.iface.name) }));
  const present = todo
    .filter(({ iface }) => iface.state !== "absent")
    .map((binding) => ({ ...binding, ...bindingFacts(binding, options.primaryFamily) }));
  if (!hasWork(todo)) return { present, steps: [] };
  return { present, ...finalFailures(() => planSteps(vmi, todo, nics, options)) };
}

/** Whether a network waits to be wired, or a wired one to be removed. */
function hasWork(todo: readonly Binding[]): boolean {
  return todo.some(({ kind, iface }) => iface.state === "absent" || kind !== "sriov");
}

/** A failure to plan from known facts is final: nothing about the Pod will change it. */
function finalFailures<T>(plan: () => T): T {
  try {
    return plan();
  } catch (error) {
    if (!isNetworkSetupError(error)) throw error;
    const { code, message, path = "" } = error;
    throw new NetworkSetupError(code, message, { path, cause: error, final: true });
  }
}

/**
 * The steps from the present state to the wanted one: links, then settings, then the NAT in one
 * piece.
 */
function planSteps(
  vmi: VirtualMachineInstance,
  todo: readonly Binding[],
  nics: readonly PodNic[],
  { launcherPid = 0, names, settings: found = {}, ...options }: PlanOptions,
): { readonly wanted: WantedState; readonly steps: readonly Step[] } {
  const wanted = wantedState(vmi, todo, nics, { launcherPid, names });
  const settings = Object.entries(wanted.settings).map(([name, value]): Step => {
    const before = found[name as SettingName];
    const undo: Operation[] =
      before === undefined ? [] : [{ kind: "setSysctl", name, value: before }];
    return { network: "", operation: { kind: "setSysctl", name, value }, undo };
  });
  const nat = natSteps(bindingNat(vmi, todo, options));
  return { wanted, steps: [...linkSteps(nics, wanted.links), ...settings, ...nat] };
}

function natSteps(tables: readonly NatTable[]): readonly Step[] {
  if (tables.length === 0) return [];
  const undo: Operation[] = [{ kind: "deleteNat", tables }];
  return [{ network: "", operation: { kind: "addNat", tables }, undo }];
}
