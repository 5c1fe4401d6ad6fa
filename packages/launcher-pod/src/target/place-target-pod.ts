import type { ClusterConfig } from "@virtkit/api/config";
import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { computeName } from "../containers/compute-container.ts";
import { type Explain, part } from "../explain.ts";
import { LauncherPodError } from "../launcher-pod-error.ts";
import type { ExistingPod, Pod } from "../pod/pod.ts";
import { hostModelOf, hostModelSelector } from "./host-model-selector.ts";
import { decentralizedAntiAffinity, targetAntiAffinity } from "./target-anti-affinity.ts";
import { targetSelinux } from "./target-selinux.ts";

/** A node; only its labels matter. */
export interface SourceNode {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
}

interface Placement {
  readonly vmi: VirtualMachineInstance;
  readonly migration: VirtualMachineInstanceMigration;
  readonly sourcePod: ExistingPod;
  /** Labels of the source's node, or those that the source cluster sent. */
  readonly sourceLabels: Readonly<Record<string, string>>;
  /** The source is another cluster or namespace, known only by what it has sent. */
  readonly decentralized: boolean;
  readonly names: Names;
  readonly explain: Explain | undefined;
}

/** Decides where a target may run and marks it as the migration's. Changes and returns the Pod. */
export function placeTargetPod(
  pod: Pod,
  vmi: VirtualMachineInstance,
  migration: VirtualMachineInstanceMigration,
  source: { readonly pod: ExistingPod; readonly node?: SourceNode },
  config: ClusterConfig,
  explain: Explain | undefined,
): Pod {
  const decentralized = Boolean(migration.spec?.receive);
  const sourceLabels = decentralized
    ? (vmi.status?.migrationState?.sourceState?.nodeSelectors ?? {})
    : nodeLabelsOf(source.node);
  const placement = {
    vmi,
    migration,
    sourcePod: source.pod,
    sourceLabels,
    decentralized,
    names: config.names,
    explain,
  };
  mark(pod, placement);
  keepApart(pod, placement);
  selectNodes(pod, placement);
  if (config.migrations.matchSELinuxLevelOnMigration !== false) shareSelinuxLevel(pod, placement);
  return pod;
}

function nodeLabelsOf(node: SourceNode | undefined): Readonly<Record<string, string>> {
  if (node) return node.metadata?.labels ?? {};
  const path = "status.nodeName";
  const message = `the node of the source Pod is unknown (${path}); a target cannot be placed without its labels`;
  throw new LauncherPodError("LAUNCHER_POD_NOT_FOUND", message, { path });
}

function mark({ metadata, spec }: Pod, { migration, names, explain }: Placement): void {
  const { labels, annotations } = names;
  const own = migration.metadata ?? {};
  metadata.labels = { ...metadata.labels, [labels.migrationJobUid]: own.uid ?? "" };
  metadata.annotations = {
    ...metadata.annotations,
    [annotations.migrationJobName]: own.name ?? "",
  };
  explain?.(part.label(labels.migrationJobUid), "migration.metadata.uid", "whose target it is");
  explain?.(
    part.annotation(annotations.migrationJobName),
    "migration.metadata.name",
    "whose target it is",
  );
  const image = own.annotations?.[annotations.testTargetImage];
  const compute = spec.containers.find(({ name }) => name === computeName);
  if (image && compute) compute.image = image;
}

function keepApart({ spec }: Pod, { vmi, decentralized, names, explain }: Placement): void {
  spec.affinity = decentralized
    ? decentralizedAntiAffinity(spec.affinity, vmi)
    : targetAntiAffinity(spec.affinity, vmi.metadata?.uid ?? "", names);
  explain?.("spec.affinity", "rule", "not on the source's node");
}

/**
 * The Pod's own rules take precedence over what the migration adds; then come the guest's CPU and the CPU's
 * vendor.
 */
function selectNodes({ spec }: Pod, placement: Placement): void {
  const { vmi, migration, sourcePod, sourceLabels, decentralized, names, explain } = placement;
  const selector = { ...migration.spec?.addedNodeSelector, ...spec.nodeSelector };
  for (const key of Object.keys(migration.spec?.addedNodeSelector ?? {})) {
    if (spec.nodeSelector?.[key] !== undefined) continue;
    explain?.(part.selector(key), "migration.spec.addedNodeSelector", "set by the migration");
  }
  const add = (wanted: Readonly<Record<string, string>>, because: string): void => {
    Object.assign(selector, wanted);
    for (const key of Object.keys(wanted))
      explain?.(part.selector(key), "cluster.nodes[source]", because);
  };
  if (vmi.spec.domain.cpu?.model === "host-model") {
    const wanted = decentralized
      ? hostModelOf(sourceLabels, names.nodeLabels)
      : hostModelSelector(sourceLabels, sourcePod.spec?.nodeSelector ?? {}, names);
    add(wanted, "the guest has the CPU of the host where it first started");
  }
  const vendor = vendorLabel(selector, names) ?? vendorLabel(sourceLabels, names);
  if (vendor !== undefined && selector[vendor] === undefined) {
    add({ [vendor]: "true" }, "guests do not move between vendors");
  }
  spec.nodeSelector = selector;
}

function vendorLabel(
  all: Readonly<Record<string, string>>,
  { nodeLabels }: Names,
): string | undefined {
  return Object.keys(all).find((key) => key.startsWith(nodeLabels.cpuVendor));
}

function shareSelinuxLevel({ spec }: Pod, { vmi, decentralized }: Placement): void {
  const { status } = vmi;
  const context = decentralized
    ? status?.migrationState?.sourceState?.selinuxContext
    : status?.selinuxContext;
  const securityContext = targetSelinux(spec.securityContext, context);
  if (securityContext) spec.securityContext = securityContext;
}
