import { ApiError } from "../api-error.ts";
import type { ClusterConfig } from "../config/index.ts";
import type { Interface, VirtualMachineInstanceSpec } from "../schema/index.ts";

/**
 * Attaches the Pod network, with the cluster's default binding, to a draft that has neither networks
 * nor interfaces, unless it says `autoattachPodInterface: false`.
 */
export function defaultNetwork(draft: VirtualMachineInstanceSpec, config: ClusterConfig): void {
  const { devices } = draft.domain;
  if (devices.autoattachPodInterface === false) return;
  if (draft.networks?.length || devices.interfaces?.length) return;
  const binding = defaultBinding(config);
  if (binding) devices.interfaces = [{ name: "default", ...binding }];
  draft.networks = [{ name: "default", pod: {} }];
}

function defaultBinding(config: ClusterConfig): Partial<Interface> | undefined {
  const field = "spec.configuration.network.defaultNetworkInterface";
  switch (config.defaultNetworkInterface) {
    case "bridge":
      if (config.permitBridgeInterfaceOnPodNetwork) return { bridge: {} };
      throw new ApiError(
        "API_DEFAULTS_IMPOSSIBLE",
        `${field} of KubeVirt is bridge, which the same configuration does not permit on the Pod network; set it to masquerade, or give the virtual machine its own interface`,
        { path: field },
      );
    case "masquerade":
      return { masquerade: {} };
    case "slirp":
      throw new ApiError(
        "API_DEFAULTS_IMPOSSIBLE",
        `${field} of KubeVirt is slirp, which no longer exists; set it to masquerade, or give the virtual machine its own interface`,
        { path: field },
      );
    default:
      return undefined;
  }
}
