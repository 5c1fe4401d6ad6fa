import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";
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
    const usable = (interfaces[name] ?? []).filter(
      ({ internal, address }) => !internal && !/^(fe80:|169\.254\.)/i.test(address),
    );
    const found = usable.find(({ family }) => family === "IPv4") ?? usable[0];
    if (found) return found.address;
  }
  const message =
    "this node agent has no address that other nodes can reach; check the network of its Pod";
  throw new NodeAgentError("AGENT_ARGUMENT", message, { path: "address" });
}
