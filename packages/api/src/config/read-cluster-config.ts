import { ApiError, isApiError } from "../api-error.ts";
import type { KubeVirt, KubeVirtConfiguration } from "../schema/index.ts";
import { ClusterConfig } from "./cluster-config.ts";
import { type ConfigurationProblem, configurationProblems } from "./configuration-problems.ts";
import { mergeConfiguration } from "./merge-configuration.ts";

/** What {@link clusterConfig} cannot read from the object that it is given. */
export interface ClusterConfigOptions {
  /** Architecture of the nodes on which the control plane runs. Default `amd64`. */
  readonly cpuArchitecture?: string;
  /**
   * Architecture of machines that do not name theirs. Default: the status of the KubeVirt object,
   * or `cpuArchitecture` where there is no status.
   */
  readonly defaultArchitecture?: string;
}

/**
 * The configuration of a cluster from its KubeVirt object, or from the `spec.configuration` of one:
 * laid over the built-in defaults and checked. Neither is changed.
 *
 * Throws an `ApiError` with `API_CONFIG_INVALID` and the first bad field as `path`. To go on with
 * the last good configuration, as a running cluster does, use `ConfigStore`.
 *
 * @example
 * const config = clusterConfig({ developerConfiguration: { featureGates: ["HostDisk"] } });
 * config.gate("HostDisk"); // true
 * config.machineType("arm64"); // "virt"
 */
export function clusterConfig(
  source: KubeVirt | KubeVirtConfiguration = {},
  options: ClusterConfigOptions = {},
): ClusterConfig {
  const read = readClusterConfig(source, options);
  if (read instanceof ClusterConfig) return read;
  const [{ path, message }] = read;
  throw new ApiError("API_CONFIG_INVALID", message, { path });
}

/** {@link clusterConfig} that answers all that is wrong in place of throwing. Takes any value. */
export function readClusterConfig(
  source: unknown,
  { cpuArchitecture = "amd64", defaultArchitecture }: ClusterConfigOptions = {},
): ClusterConfig | readonly [ConfigurationProblem, ...ConfigurationProblem[]] {
  const kubevirt = asKubeVirt(source);
  const architecture = defaultArchitecture ?? statusArchitecture(kubevirt) ?? cpuArchitecture;
  try {
    const effective = mergeConfiguration(kubevirt.spec?.configuration ?? {}, architecture);
    const [first, ...others] = configurationProblems(effective);
    if (first) return [first, ...others];
    const annotations = { ...kubevirt.metadata?.annotations };
    return new ClusterConfig(effective, { cpuArchitecture, annotations });
  } catch (error) {
    if (!isApiError(error)) throw error;
    return [{ path: error.path ?? "spec.configuration", message: error.message }];
  }
}

/** The parts of a KubeVirt object that matter here; a bare configuration becomes one. */
interface ConfiguredObject {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: { readonly configuration?: KubeVirtConfiguration };
  readonly status?: { readonly defaultArchitecture?: string };
}

function asKubeVirt(source: unknown): ConfiguredObject {
  const isObject = typeof source === "object" && source !== null;
  const isKubeVirt = isObject && ("spec" in source || "kind" in source || "status" in source);
  if (isKubeVirt) return source as ConfiguredObject;
  return { spec: { configuration: source as KubeVirtConfiguration } };
}

/** A status without an architecture is one that KubeVirt takes at its word: empty. */
function statusArchitecture({ status }: ConfiguredObject): string | undefined {
  return status && (status.defaultArchitecture ?? "");
}
