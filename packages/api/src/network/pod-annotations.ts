import type { ClusterConfig } from "../config/index.ts";
import type { Interface, Network, VirtualMachineInstance } from "../schema/index.ts";
import { at, isSet, text } from "../shape.ts";
import {
  byName,
  interfaceStatusesOf,
  interfacesOf,
  isAbsent,
  isSecondary,
  networksOf,
  networksUsedBy,
} from "./interfaces.ts";
import { primaryBridge } from "./link-names.ts";
import { multusAnnotation, type NetworkProblem, networksAnnotation } from "./multus-annotation.ts";
import { networkInfo } from "./network-info.ts";
import { type AnnotatedPod, networkStatuses, podAnnotation } from "./network-status.ts";
import {
  hashedPodInterfaces,
  hasOrdinalInterface,
  ordinalPodInterfaces,
  podInterfaces,
} from "./pod-interface-names.ts";

/** The annotation that replaces the cluster's default network for one Pod. */
export const defaultNetworkAnnotation = "v1.multus-cni.io/default-network";

/** Both tell Istio which bridge the guest's traffic comes from: the first up to 1.24, the second since then. */
const istioAnnotations = [
  "traffic.sidecar.istio.io/kubevirtInterfaces",
  "istio.io/reroute-virtual-interfaces",
];

/** The parts of the cluster configuration that the annotations depend on. */
export type PodNetworkConfig = Pick<ClusterConfig, "networkBindings" | "gate" | "names">;

/** Annotations to set, or why the Pod's networks cannot be described. */
export type PodAnnotations =
  | { readonly annotations: Readonly<Record<string, string>> }
  | { readonly problem: NetworkProblem };

/**
 * The network annotations of a new launcher Pod.
 *
 * @example
 * ```ts
 * const answer = podAnnotations(vmi, clusterConfig());
 * if ("annotations" in answer) Object.assign(pod.metadata.annotations, answer.annotations);
 * ```
 */
export function podAnnotations(
  vmi: VirtualMachineInstance,
  { networkBindings: plugins }: Pick<PodNetworkConfig, "networkBindings">,
): PodAnnotations {
  const spec = vmi?.spec;
  const interfaces = interfacesOf(spec).filter((iface) => !isAbsent(iface));
  const networks = networksUsedBy(interfaces, networksOf(spec));
  const names = hashedPodInterfaces(networks);
  const multus = multusAnnotation(namespaceOf(vmi), interfaces, networks, names, plugins);
  if ("problem" in multus) return multus;
  const primary = networksOf(spec).find(
    (network) => isSet(network.multus) && !isSecondary(network),
  );
  const masquerades = interfacesOf(spec).some((iface) => isSet(iface.masquerade));
  const annotations: Record<string, string> = {};
  if (multus.value) annotations[networksAnnotation] = multus.value;
  if (primary) annotations[defaultNetworkAnnotation] = text(at(primary.multus, "networkName"));
  if (masquerades) for (const name of istioAnnotations) annotations[name] = primaryBridge;
  return { annotations };
}

/**
 * Annotations that override {@link podAnnotations} on the target Pod of a migration; `undefined` unless the
 * source Pod has ordinal names that must stay.
 */
export function targetPodAnnotations(
  vmi: VirtualMachineInstance,
  sourcePod: AnnotatedPod,
  config: PodNetworkConfig,
): PodAnnotations | undefined {
  const upgrades = config.gate("PodSecondaryInterfaceNamingUpgrade");
  if (upgrades || !hasOrdinalInterface(networkStatuses(sourcePod))) return undefined;
  const networks = networksOf(vmi?.spec);
  const multus = multusAnnotation(
    namespaceOf(vmi),
    interfacesOf(vmi?.spec),
    networks,
    ordinalPodInterfaces(networks),
    config.networkBindings,
  );
  if ("problem" in multus) return multus;
  return { annotations: { [networksAnnotation]: multus.value } };
}

/**
 * What to change on a running Pod: the device information, and the Multus annotation after a hotplug or an unplug.
 * An annotation that would not change, or cannot be written, is left out.
 */
export function livePodAnnotations(
  vmi: VirtualMachineInstance,
  pod: AnnotatedPod,
  { networkBindings: plugins, names }: Pick<PodNetworkConfig, "networkBindings" | "names">,
): Readonly<Record<string, string>> {
  const statuses = networkStatuses(pod);
  const info = networkInfo(interfacesOf(vmi?.spec), networksOf(vmi?.spec), statuses, plugins);
  const change = attachmentChange(vmi);
  const multus =
    change &&
    multusAnnotation(
      namespaceOf(vmi),
      change.interfaces,
      change.networks,
      podInterfaces(change.networks, statuses),
      plugins,
    );
  const value = multus && "value" in multus ? multus.value : undefined;
  const changes = value !== undefined && value !== podAnnotation(pod, networksAnnotation);
  return {
    ...(info ? { [names.annotations.networkInfo]: info } : {}),
    ...(changes ? { [networksAnnotation]: value } : {}),
  };
}

/** The interfaces that the Pod should have, if they differ from those in the status. */
function attachmentChange(
  vmi: VirtualMachineInstance,
): { interfaces: readonly Interface[]; networks: readonly Network[] } | undefined {
  const all = interfacesOf(vmi?.spec);
  const present = all.filter((iface) => !isAbsent(iface));
  const known = byName(interfaceStatusesOf(vmi));
  const isKnown = (iface: Interface): boolean => known.has(text(iface.name));
  // An SR-IOV device cannot be added to a running Pod: it comes with the target Pod of a migration.
  const interfaces = present.filter((iface) => !isSet(iface.sriov) || isKnown(iface));
  const plugs = interfaces.some((iface) => !isKnown(iface));
  if (!plugs && present.length === all.length) return undefined;
  return { interfaces, networks: networksUsedBy(interfaces, networksOf(vmi?.spec)) };
}

function namespaceOf(vmi: VirtualMachineInstance): string {
  return text(at(vmi, "metadata", "namespace"));
}
