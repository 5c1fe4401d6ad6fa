import { ApiError } from "../api-error.ts";
import type { ClusterConfig } from "../config/index.ts";
import { defaultNetwork as networkToAdd } from "../network/default-network.ts";
import type { VirtualMachineInstanceSpec } from "../schema/index.ts";

/**
 * Attaches the Pod network, with the cluster's default binding, to a draft that has neither networks
 * nor interfaces, unless it says `autoattachPodInterface: false`.
 */
export function defaultNetwork(draft: VirtualMachineInstanceSpec, config: ClusterConfig): void {
  const answer = networkToAdd(draft, config);
  if (answer.kind === "none") return;
  if (answer.kind === "refused") {
    const path = "spec.configuration.network.defaultNetworkInterface";
    throw new ApiError("API_DEFAULTS_IMPOSSIBLE", answer.message, { path });
  }
  if (answer.interfaces.length > 0) draft.domain.devices.interfaces = answer.interfaces;
  draft.networks = answer.networks;
}
