import type { ClusterConfig } from "@virtkit/api/config";
import type { Names } from "@virtkit/api/names";
import type { NodeCapabilities } from "./node-capabilities.ts";

/** What a node's labels are made from, besides its {@link NodeCapabilities}. */
export interface NodeLabelFacts {
  /** As Go names it: `amd64`. */
  readonly architecture: string;
  /** Whether the kernel lets real-time processes run without a limit. */
  readonly realtime: boolean;
  /** Hyper-V features that KVM supports here: `vpindex`, ... */
  readonly hyperv: readonly string[];
}

/** Labels by name; `undefined` removes a label. */
export type LabelChanges = Readonly<Record<string, string | null>>;

/** Models that are not offered if the configuration does not list the obsolete ones; KubeVirt's list. */
const oldCpuModels = [
  ...["486", "pentium", "pentium2", "pentium3", "pentiumpro", "coreduo", "n270", "core2duo"],
  ...["Conroe", "athlon", "phenom", "qemu64", "qemu32", "kvm64", "kvm32"],
  ...["Opteron_G1", "Opteron_G2"],
].flatMap((model) => [model, `${model}-v1`]);

/** The labels that say which guests a node can run, under KubeVirt's names. */
export function nodeLabelsFor(
  capabilities: NodeCapabilities,
  { architecture, realtime, hyperv }: NodeLabelFacts,
  config: ClusterConfig,
): Readonly<Record<string, string>> {
  const { nodeLabels: names } = config.names;
  const { obsoleteCPUModels } = config.configuration;
  const obsolete = new Set(Object.keys(obsoleteCPUModels ?? {}));
  const hidden = obsoleteCPUModels ? obsolete : new Set(oldCpuModels);
  const { hostModel, tsc } = capabilities;
  const prefixed = (prefix: string, suffixes: readonly string[]): readonly string[] =>
    suffixes.map((suffix) => `${prefix}${suffix}`);
  const current = (models: readonly string[]): readonly string[] =>
    models.filter((model) => !hidden.has(model));
  const when = (holds: boolean, name: string): readonly string[] => (holds ? [name] : []);
  const cross = config.gate("CrossArchitectureVirtualization");
  const keys = [
    ...prefixed(names.cpuFeature, capabilities.features),
    ...prefixed(names.cpuModel, current(capabilities.usableModels)),
    ...prefixed(names.cpuModelMigration, current(capabilities.knownModels)),
    ...prefixed(names.machineType, capabilities.machines),
    ...prefixed(names.hyperv, hyperv),
    ...when(hostModel !== undefined && obsolete.has(hostModel.name), names.obsoleteHostModel),
    ...prefixed(names.hostModelRequiredFeatures, hostModel?.requiredFeatures ?? []),
    ...when(hostModel !== undefined, `${names.cpuVendor}${hostModel?.vendor}`),
    ...when(hostModel !== undefined, `${names.hostModelCpu}${hostModel?.name}`),
    ...when(realtime, names.realtime),
    ...when(capabilities.sev, names.sev),
    ...when(capabilities.sevEs, names.sevEs),
    ...when(capabilities.sevSnp, names.sevSnp),
    ...when(capabilities.tdx, names.tdx),
    ...when(capabilities.secureExecution, names.secureExecution),
    ...prefixed(names.vmArchitecture, cross ? [architecture, ...capabilities.emulated] : []),
  ];
  return {
    ...Object.fromEntries(keys.filter(isLabelName).map((key) => [key, "true"])),
    ...(tsc && {
      [`${names.cpuTimer}tsc-frequency`]: tsc.frequency,
      [`${names.cpuTimer}tsc-scalable`]: String(tsc.scalable),
    }),
  };
}

/**
 * libvirt's names become parts of labels; one that is not valid there is left out, so that it does not affect
 * others.
 */
function isLabelName(key: string): boolean {
  const name = key.slice(key.indexOf("/") + 1);
  return /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(name);
}

/** The patch that sets a node's labels; empty if they are right. Labels of others are kept. */
export function planLabels(
  current: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
  names: Names,
): LabelChanges {
  const added = Object.entries(wanted).filter(([key, value]) => current[key] !== value);
  const stale = Object.keys(current).filter(
    (key) => isOwn(key, names) && !Object.hasOwn(wanted, key),
  );
  return { ...Object.fromEntries(added), ...Object.fromEntries(stale.map((key) => [key, null])) };
}

function isOwn(key: string, { nodeLabels: names }: Names): boolean {
  const exact = [
    ...[names.obsoleteHostModel, names.realtime, names.sev, names.sevEs, names.sevSnp],
    ...[names.tdx, names.secureExecution],
  ];
  const prefixes = [
    ...[names.cpuFeature, names.cpuModel, names.cpuModelMigration, names.cpuTimer, names.cpuVendor],
    ...[names.hyperv, names.machineType, names.hostModelCpu, names.hostModelRequiredFeatures],
    names.vmArchitecture,
  ];
  return exact.includes(key) || prefixes.some((prefix) => key.startsWith(prefix));
}
