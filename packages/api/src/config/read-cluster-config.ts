import { ApiError, isApiError } from "../api-error.ts";
import { type Names, names } from "../names/index.ts";
import { check } from "../schema/check.ts";
import { type KubeVirt, KubeVirtSchema } from "../schema/cluster/kubevirt.ts";
import type { KubeVirtConfiguration } from "../schema/cluster/kubevirt-configuration.ts";
import { describeValue, formatPath } from "../schema/issue.ts";
import { at } from "../shape.ts";
import { ClusterConfig } from "./cluster-config.ts";
import { type ConfigurationProblem, configurationProblems } from "./configuration-problems.ts";
import { mergeConfiguration } from "./merge-configuration.ts";

/** What {@link clusterConfig} cannot read from its argument. */
export interface ClusterConfigOptions {
  /** Architecture of the nodes on which the control plane runs. Default `amd64`. */
  readonly cpuArchitecture?: string;
  /**
   * Architecture of VMIs that do not set one. Default: the status of the KubeVirt object, or `cpuArchitecture`
   * if there is no status.
   */
  readonly defaultArchitecture?: string;
  /** What the platform calls things. Default: KubeVirt's names. */
  readonly names?: Names;
}

const kubevirtNames = names();

/**
 * The configuration of a cluster, from its KubeVirt object or the `spec.configuration` of one: merged over the
 * built-in defaults and checked. The argument is not changed.
 *
 * Without arguments it returns the same object each time.
 *
 * Throws an `ApiError` with `API_CONFIG_INVALID` and the first invalid field as `path`. To continue with the last
 * valid configuration, as a running cluster does, use `ConfigStore`.
 *
 * @example
 * ```ts
 * const config = clusterConfig({ developerConfiguration: { featureGates: ["HostDisk"] } });
 * config.gate("HostDisk"); // true
 * config.machineType("arm64"); // "virt"
 * ```
 */
export function clusterConfig(
  source?: KubeVirt | KubeVirtConfiguration,
  options?: ClusterConfigOptions,
): ClusterConfig {
  if (source !== undefined || options !== undefined) return checkedConfig(source ?? {}, options);
  standard ??= checkedConfig({});
  return standard;
}

let standard: ClusterConfig | undefined;

function checkedConfig(source: object, options?: ClusterConfigOptions): ClusterConfig {
  const read = readClusterConfig(source, options);
  if (read instanceof ClusterConfig) return read;
  const [{ path, message }] = read;
  throw new ApiError("API_CONFIG_INVALID", message, { path });
}

/** Like {@link clusterConfig}, but returns everything that is wrong instead of throwing. Accepts any value. */
export function readClusterConfig(
  source: unknown,
  {
    cpuArchitecture = "amd64",
    defaultArchitecture,
    names = kubevirtNames,
  }: ClusterConfigOptions = {},
): ClusterConfig | readonly [ConfigurationProblem, ...ConfigurationProblem[]] {
  const wrongKind = kindProblem(source);
  if (wrongKind) return [wrongKind];
  const kubevirt = asKubeVirt(source);
  const [unfit, ...more] = shapeProblems(kubevirt);
  if (unfit) return [unfit, ...more];
  const architecture = defaultArchitecture ?? statusArchitecture(kubevirt) ?? cpuArchitecture;
  try {
    const effective = mergeConfiguration(kubevirt.spec?.configuration ?? {}, {
      defaultArchitecture: architecture,
      drainTaint: names.taints.drain,
    });
    const [first, ...others] = configurationProblems(effective);
    if (first) return [first, ...others];
    const annotations = { ...kubevirt.metadata?.annotations };
    return new ClusterConfig(effective, { cpuArchitecture, annotations, names });
  } catch (error) {
    if (!isApiError(error)) throw error;
    return [{ path: error.path ?? "spec.configuration", message: error.message }];
  }
}

/** The parts of a KubeVirt object that matter here; a bare configuration becomes one. */
interface ConfiguredObject {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> } | undefined;
  readonly spec?: { readonly configuration?: KubeVirtConfiguration } | undefined;
  readonly status?: { readonly defaultArchitecture?: string } | undefined;
}

/** Another kind of object may also have a spec, and would be read as an empty configuration. */
function kindProblem(source: unknown): ConfigurationProblem | undefined {
  const kind = at(source, "kind");
  if (kind === undefined || kind === "KubeVirt") return undefined;
  const message = `kind is ${describeValue(kind)}; give a KubeVirt object or its spec.configuration`;
  return { path: "kind", message };
}

function asKubeVirt(source: unknown): ConfiguredObject {
  const isObject = typeof source === "object" && source !== null;
  if (!isObject || !("spec" in source || "kind" in source || "status" in source)) {
    return { spec: { configuration: source as KubeVirtConfiguration } };
  }
  const { metadata, spec, status } = source as KubeVirt;
  // The rest of the object is not ours to judge.
  return {
    metadata: only(metadata, "annotations"),
    spec: only(spec, "configuration"),
    status: only(status, "defaultArchitecture"),
  };
}

/** An object with only one of its fields; any other value is returned as it is, to be refused. */
function only<T extends object, K extends keyof T>(
  value: T | undefined,
  field: K,
): Pick<T, K> | undefined {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? ({ [field]: value[field] } as Pick<T, K>) : value;
}

/**
 * Where the types are wrong. A missing required field is accepted: KubeVirt's own components would read it as
 * empty, and the API server has refused it long before.
 */
function shapeProblems(kubevirt: ConfiguredObject): ConfigurationProblem[] {
  const { issues } = check(KubeVirtSchema, kubevirt);
  return issues
    .filter(({ code }) => code !== "required")
    .map(({ path, message }) => ({ path: formatPath(path), message }));
}

/** A status without an architecture means empty, as in KubeVirt. */
function statusArchitecture({ status }: ConfiguredObject): string | undefined {
  return status && (status.defaultArchitecture ?? "");
}
