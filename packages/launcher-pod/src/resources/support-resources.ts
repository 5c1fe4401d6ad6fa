import type { ClusterConfig } from "@virtkit/api/config";
import type { SupportContainerType } from "@virtkit/api/schema";
import type { ContainerResources, ResourceList } from "../pod/container.ts";

/** CPU and memory of a kind of helper container; the configuration may set each of the four. */
export interface SupportDefaults {
  readonly type: SupportContainerType;
  readonly requests: SupportAmounts;
  readonly limits: SupportAmounts;
}

interface SupportAmounts {
  readonly cpu: string;
  readonly memory: string;
}

/**
 * Resources of a helper container. If the Pod must be of QoS class Guaranteed, requests equal limits.
 */
export function supportResources(
  config: ClusterConfig,
  defaults: SupportDefaults,
  guaranteed: boolean,
): Required<Pick<ContainerResources, "limits" | "requests">> {
  const limits = supportLimits(config, defaults);
  return { limits, requests: guaranteed ? { ...limits } : supportRequests(config, defaults) };
}

function supportLimits(config: ClusterConfig, { type, limits }: SupportDefaults): ResourceList {
  return {
    cpu: config.supportContainerLimit(type, "cpu")?.toString() ?? limits.cpu,
    memory: config.supportContainerLimit(type, "memory")?.toString() ?? limits.memory,
  };
}

function supportRequests(config: ClusterConfig, { type, requests }: SupportDefaults): ResourceList {
  return {
    cpu: config.supportContainerRequest(type, "cpu")?.toString() ?? requests.cpu,
    memory: config.supportContainerRequest(type, "memory")?.toString() ?? requests.memory,
  };
}
