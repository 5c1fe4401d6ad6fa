import { hasInfoSource } from "@virtkit/api/network";
import type {
  Interface,
  Network,
  VirtualMachineInstance,
  VirtualMachineInstanceNetworkInterface,
} from "@virtkit/api/schema";

/** The occasion: the VMI's start, a change while it runs, or the target of a migration. */
export type WiringFlow = "startup" | "liveUpdate" | "migrationTarget";

/**
 * The networks to wire or unwire. At the start: those of interfaces that are not `absent`, in the
 * order of the interfaces. Live: those that the Pod has and the domain lacks, then those that are
 * `absent` and have left the domain. On a target: all, in the order of the spec.
 */
export function networksToWire(vmi: VirtualMachineInstance, flow: WiringFlow): readonly Network[] {
  const networks = vmi.spec?.networks ?? [];
  if (flow === "migrationTarget") return networks;
  const interfaces = vmi.spec?.domain?.devices?.interfaces ?? [];
  const present = networksOf(
    interfaces.filter(({ state }) => state !== "absent"),
    networks,
  );
  if (flow === "startup") return present;
  const statuses = new Map((vmi.status?.interfaces ?? []).map((status) => [status.name, status]));
  const plugged = present.filter(({ name }) => isInPodOnly(statuses.get(name)));
  const unplugged = interfaces.filter(
    ({ name, state }) => state === "absent" && isOutOfDomain(statuses.get(name)),
  );
  return [...plugged, ...networksOf(unplugged, networks)];
}

/** The interfaces of the given networks, in the order of the networks. */
export function interfacesFor(
  vmi: VirtualMachineInstance,
  networks: readonly Network[],
): readonly Interface[] {
  const byName = new Map(
    (vmi.spec?.domain?.devices?.interfaces ?? []).map((iface) => [iface.name, iface]),
  );
  return networks.flatMap(({ name }) => byName.get(name) ?? []);
}

function networksOf(
  interfaces: readonly Interface[],
  networks: readonly Network[],
): readonly Network[] {
  const byName = new Map(networks.map((network) => [network.name, network]));
  return interfaces.flatMap(({ name }) => byName.get(name) ?? []);
}

function isInPodOnly(status: VirtualMachineInstanceNetworkInterface | undefined): boolean {
  return isOutOfDomain(status) && hasInfoSource(status?.infoSource ?? "", "multus-status");
}

function isOutOfDomain(status: VirtualMachineInstanceNetworkInterface | undefined): boolean {
  return status !== undefined && !hasInfoSource(status.infoSource ?? "", "domain");
}
