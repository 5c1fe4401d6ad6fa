import type { ClusterConfig } from "../config/index.ts";
import type { VirtualMachineInstance } from "../schema/index.ts";
import { at, isSet, text } from "../shape.ts";
import { interfacesOf, networksOf } from "./interfaces.ts";

/**
 * Why the networks of a VMI prevent a live migration; `undefined` if they do not.
 *
 * Only the Pod network matters: its address changes with the Pod, and only masquerade, passt and plugins that
 * say so hide that from the guest.
 */
export function networkMigrationObstacle(
  vmi: VirtualMachineInstance,
  config: Pick<ClusterConfig, "networkBindings" | "names">,
): string | undefined {
  const interfaces = interfacesOf(vmi?.spec);
  const podNetwork = networksOf(vmi?.spec).find((network) => isSet(network.pod));
  if (interfaces.length === 0 || !podNetwork) return undefined;
  const iface = interfaces.find(({ name }) => name === podNetwork.name);
  const name = text(podNetwork.name);
  if (!iface) return `the Pod network "${name}" has no interface`;
  if (isSet(iface.masquerade) || isSet(iface.passtBinding)) return undefined;
  if (isSet(iface.bridge)) {
    const allowed = config.names.annotations.allowPodBridgeNetworkLiveMigration;
    // Whatever its value is.
    if (isSet(at(vmi, "metadata", "annotations", allowed))) return undefined;
    return `interface "${name}" bridges the Pod network; use masquerade, or set the annotation ${allowed}`;
  }
  const plugin = text(at(iface.binding, "name"));
  if (isSet(at(config.networkBindings, plugin, "migration"))) return undefined;
  return `interface "${name}" connects to the Pod network with a binding that cannot migrate; use masquerade`;
}
