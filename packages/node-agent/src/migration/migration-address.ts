import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";
import type { MigrationNetworkType } from "@virtkit/api/schema";
import { NodeAgentError } from "../node-agent-error.ts";

/** The interface that a dedicated migration network has in an agent's Pod. KubeVirt's name. */
export const migrationInterface = "migration0";

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/**
 * The address at which other nodes reach this agent: that of the dedicated migration network if the Pod has
 * one, otherwise the Pod's own. IPv4 is preferred to IPv6, and link-local addresses are never used.
 *
 * @throws NodeAgentError if there is none.
 */
export function migrationAddress(interfaces: Interfaces = networkInterfaces()): string {
  const others = Object.keys(interfaces).filter((name) => name !== migrationInterface);
  for (const name of [migrationInterface, ...others]) {
    const usable = reachable(interfaces[name]);
    const found = usable.find(({ family }) => family === "IPv4") ?? usable[0];
    if (found) return found.address;
  }
  const message =
    "this node agent has no address that other nodes can reach; check the network of its Pod";
  throw new NodeAgentError("AGENT_ARGUMENT", message, { path: "address" });
}

/** Whether an address of this agent is on a dedicated migration network, as a VMI's status says it. */
export function migrationNetworkOf(
  address: string,
  interfaces: Interfaces = networkInterfaces(),
): MigrationNetworkType {
  const own = reachable(interfaces[migrationInterface]);
  return own.some((each) => each.address === address) ? "Migration" : "Pod";
}

/**
 * What a person should know about the migration network that the configuration names; undefined if guests use it, or
 * if it names none.
 */
export function migrationNetworkProblem(
  network: string | undefined,
  interfaces: Interfaces = networkInterfaces(),
): string | undefined {
  if (!network || reachable(interfaces[migrationInterface]).length > 0) return undefined;
  const what = interfaces[migrationInterface] ? "has no address" : "is missing";
  return `guests do not migrate over the network ${network} of the configuration: the interface ${migrationInterface} of this Pod ${what}; check Multus and the NetworkAttachmentDefinition, and apply the installation again`;
}

function reachable(
  addresses: readonly NetworkInterfaceInfo[] | undefined,
): readonly NetworkInterfaceInfo[] {
  return (addresses ?? []).filter(
    ({ internal, address }) => !internal && !/^(fe80:|169\.254\.)/i.test(address),
  );
}
