import type { Interface, VirtualMachineInstance } from "../schema/index.ts";
import { at, isSet, objects, text } from "../shape.ts";
import { hasInfoSource } from "./info-source.ts";
import {
  byName,
  type InterfaceStatus,
  interfaceStatusesOf,
  interfacesOf,
  isAbsent,
  isSecondary,
  networksOf,
} from "./interfaces.ts";
import {
  type AnnotatedPod,
  type NetworkStatus,
  networkStatuses,
  statusesByInterface,
} from "./network-status.ts";

/** How long a dynamic networks controller has to plug an interface before the VM is migrated instead. */
export const hotplugGraceMilliseconds = 15_000;

/**
 * Whether a change of networks needs a migration: `True` now, `False` if one may follow (something may
 * still plug the interface into the running Pod), `Unknown` if none is needed.
 */
export type MigrationRequirement = "True" | "False" | "Unknown";

/**
 * The status of a VMI's `MigrationRequired` condition, as far as networks decide it.
 *
 * @param now milliseconds since the epoch. A pending change turns into a required migration once the
 * condition has been `False` for longer than {@link hotplugGraceMilliseconds}.
 */
export function networkMigrationRequirement(
  vmi: VirtualMachineInstance,
  pod: AnnotatedPod | undefined,
  now: number,
): MigrationRequirement {
  const need = firstNeed(vmi, pod);
  if (need === undefined) return "Unknown";
  if (need === "now") return "True";
  return pendingFor(vmi, now) > hotplugGraceMilliseconds ? "True" : "False";
}

type Need = "now" | "pending";

function firstNeed(vmi: VirtualMachineInstance, pod: AnnotatedPod | undefined): Need | undefined {
  const interfaces = byName(interfacesOf(vmi?.spec));
  const statuses = byName(interfaceStatusesOf(vmi));
  const attached = statusesByInterface(networkStatuses(pod));
  const namespace = text(at(vmi, "metadata", "namespace"));
  for (const network of networksOf(vmi?.spec).filter(isSecondary)) {
    const iface = interfaces.get(text(network.name));
    if (!iface) continue;
    const status = statuses.get(text(network.name));
    const need = plugging(iface, status);
    if (need) return need;
    const wanted = text(at(network.multus, "networkName"));
    if (isElsewhere(wanted, namespace, status, attached)) return "now";
  }
  return undefined;
}

function plugging(iface: Interface, status: InterfaceStatus | undefined): Need | undefined {
  if (!isAbsent(iface)) {
    if (status) return undefined;
    return isSet(iface.sriov) ? "now" : "pending";
  }
  const sources = text(status?.infoSource);
  const leftPodOnly = hasInfoSource(sources, "multus-status") && !hasInfoSource(sources, "domain");
  return leftPodOnly ? "pending" : undefined;
}

/** Whether the Pod's interface is attached to a network other than the wanted one. */
function isElsewhere(
  wanted: string,
  namespace: string,
  status: InterfaceStatus | undefined,
  attached: ReadonlyMap<string, NetworkStatus>,
): boolean {
  const podInterface = text(status?.podInterfaceName);
  const current = podInterface ? attached.get(podInterface)?.name : undefined;
  if (current === undefined || current === wanted) return false;
  return wanted.includes("/") || current !== `${namespace}/${wanted}`;
}

/** Milliseconds since the condition became `False`; 0 if it is missing or has another status. */
function pendingFor(vmi: VirtualMachineInstance, now: number): number {
  const condition = objects(at(vmi, "status", "conditions")).find(
    ({ type }) => type === "MigrationRequired",
  );
  if (condition?.["status"] !== "False") return 0;
  const since = condition["lastTransitionTime"];
  // A condition without a time has existed since the beginning, like Go's zero time.
  if (!isSet(since)) return Number.POSITIVE_INFINITY;
  const start = Date.parse(text(since));
  return Number.isNaN(start) ? 0 : now - start;
}
