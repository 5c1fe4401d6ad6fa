import { type ClusterConfig, clusterConfig } from "@virtkit/api/config";
import type { KubeVirtConfiguration } from "@virtkit/api/schema";
import { nested } from "./request.ts";

/** The cluster configuration that a request's context describes: `kubevirt.configuration` and its neighbours. */
export function contextConfig(context: unknown): ClusterConfig {
  const configuration = nested(context, "kubevirt", "configuration") ?? {};
  const cpuArchitecture = nested(context, "kubevirt", "cpuArch");
  const defaultArchitecture = nested(context, "kubevirt", "defaultArchitecture");
  return clusterConfig(configuration as KubeVirtConfiguration, {
    ...(typeof cpuArchitecture === "string" ? { cpuArchitecture } : {}),
    ...(typeof defaultArchitecture === "string" ? { defaultArchitecture } : {}),
  });
}
