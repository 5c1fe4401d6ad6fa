import { type Names, names as namesOf } from "@virtkit/api/names";
import { parseQuantity } from "@virtkit/api/quantity";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at, entry, objects, text } from "@virtkit/api/shape";
import { conditionsOf, hasCondition } from "@virtkit/api/status";
import type { CollectedMetric, Sample } from "./collected-metric.ts";

/** What the metrics of VMIs are computed from. */
export interface VmiMetricsView {
  readonly vmis: readonly VirtualMachineInstance[];
  /** The name of a VMI's launcher Pod, if it has one. */
  podOf(vmi: VirtualMachineInstance): string | undefined;
  readonly names?: Names;
}

/** What KubeVirt writes where there is no value. */
export const noValue = "<none>";

/** The metrics of VMIs that virt-controller serves, under KubeVirt's names. */
export const vmiMetrics: readonly CollectedMetric<VmiMetricsView>[] = [
  {
    name: "kubevirt_vmi_info",
    help: "Information about a VMI",
    labels: [
      ...["node", "namespace", "name", "phase", "os", "workload", "flavor"],
      ...["instance_type", "preference", "guest_os_kernel_release", "guest_os_machine"],
      ...["guest_os_arch", "guest_os_name", "guest_os_version_id"],
      ...["evictable", "outdated", "vmi_pod"],
    ],
    samples: (view) => view.vmis.map((vmi) => ({ labels: infoOf(vmi, view), value: 1 })),
  },
  {
    name: "kubevirt_vmi_non_evictable",
    help: "Whether a VMI must be migrated when its node is drained, but cannot be",
    labels: ["node", "namespace", "name"],
    samples: ({ vmis }) =>
      vmis.map((vmi) => ({ labels: placeOf(vmi), value: isEvictable(vmi) ? 0 : 1 })),
  },
  {
    name: "kubevirt_vmi_number_of_outdated",
    help: "VMIs whose launcher does not belong to this installation",
    labels: [],
    samples: ({ vmis, names = namesOf() }) => [
      { labels: {}, value: vmis.filter((vmi) => isOutdated(vmi, names)).length },
    ],
  },
  {
    name: "kubevirt_vmi_launcher_memory_overhead_bytes",
    help: "Memory that the launcher of a VMI takes in addition to its guest",
    labels: ["namespace", "name"],
    samples: ({ vmis }) => vmis.flatMap(overheadOf),
  },
  {
    name: "kubevirt_vmi_status_addresses",
    help: "The addresses of a VMI",
    labels: ["node", "namespace", "name", "vnic_name", "interface_name", "address", "type"],
    samples: ({ vmis }) => vmis.flatMap(addressesOf),
  },
  {
    name: "kubevirt_vmi_vnic_info",
    help: "The network interfaces of a VMI",
    labels: ["name", "namespace", "vnic_name", "binding_type", "network", "binding_name", "model"],
    samples: ({ vmis }) => vmis.flatMap(interfacesOf),
  },
  ...(["start", "end"] as const).map(migrationTime),
];

function identityOf({ metadata }: VirtualMachineInstance): Sample["labels"] {
  return { namespace: text(metadata?.namespace), name: text(metadata?.name) };
}

function placeOf(vmi: VirtualMachineInstance): Sample["labels"] {
  return { node: text(vmi.status?.nodeName), ...identityOf(vmi) };
}

function infoOf(vmi: VirtualMachineInstance, view: VmiMetricsView): Sample["labels"] {
  const { names = namesOf() } = view;
  const { annotations, labels } = vmi.metadata ?? {};
  const note = (key: string): string => entry(annotations, `vm.${names.group}/${key}`) || noValue;
  const system = Object(vmi.status?.guestOSInfo);
  const ofType = (...keys: readonly string[]): string =>
    keys.map((key) => entry(annotations, key) ?? entry(labels, key)).find(Boolean) ?? noValue;
  const { annotations: keys } = names;
  return {
    ...placeOf(vmi),
    phase: text(vmi.status?.phase).toLowerCase(),
    ...{ os: note("os"), workload: note("workload"), flavor: note("flavor") },
    instance_type: ofType(keys.instancetype, keys.clusterInstancetype),
    preference: ofType(keys.preference, keys.clusterPreference),
    guest_os_kernel_release: text(system.kernelRelease),
    guest_os_machine: text(system.machine),
    guest_os_arch: text(vmi.spec.architecture),
    guest_os_name: text(system.name),
    guest_os_version_id: text(system.versionId),
    evictable: String(isEvictable(vmi)),
    outdated: String(isOutdated(vmi, names)),
    vmi_pod: view.podOf(vmi) ?? noValue,
  };
}

/** A VMI that must be migrated but cannot be blocks the drain of its node. */
function isEvictable(vmi: VirtualMachineInstance): boolean {
  const isToMove = vmi.spec.evictionStrategy === "LiveMigrate";
  return !(isToMove && hasCondition(conditionsOf(vmi), "LiveMigratable", "False"));
}

function isOutdated({ metadata }: VirtualMachineInstance, { labels }: Names): boolean {
  return entry(metadata?.labels, labels.outdatedLauncherImage) !== undefined;
}

function overheadOf(vmi: VirtualMachineInstance): readonly Sample[] {
  const overhead = text(at(vmi.status, "memory", "memoryOverhead"));
  if (overhead === "") return [];
  return [{ labels: identityOf(vmi), value: Number(parseQuantity(overhead).value()) }];
}

function addressesOf(vmi: VirtualMachineInstance): readonly Sample[] {
  return objects(vmi.status?.interfaces).flatMap((each) => {
    const addresses = Array.isArray(each["ipAddresses"]) ? each["ipAddresses"].map(text) : [];
    return addresses.map((address) => ({
      labels: {
        ...placeOf(vmi),
        vnic_name: text(each["name"]),
        interface_name: text(each["interfaceName"]),
        address,
        type: "ExternalInterface",
      },
      value: 1,
    }));
  });
}

const bindings = ["bridge", "masquerade", "sriov", "slirp", "macvtap", "passt", "passtBinding"];

function interfacesOf(vmi: VirtualMachineInstance): readonly Sample[] {
  return interfaceLabels(vmi.spec).map((labels) => ({
    labels: { ...identityOf(vmi), ...labels },
    value: 1,
  }));
}

/** What KubeVirt reports about each interface of a spec. */
export function interfaceLabels(
  spec: VirtualMachineInstance["spec"] | undefined,
): readonly Sample["labels"][] {
  return objects(spec?.domain?.devices?.interfaces).map((each) => {
    const network = objects(spec?.networks).find(({ name }) => name === each["name"]);
    const multus = text(at(network, "multus", "networkName"));
    const plugin = text(at(each, "binding", "name"));
    const core = bindings.find((name) => each[name] !== undefined && each[name] !== null);
    return {
      vnic_name: text(each["name"]),
      binding_type: plugin === "" ? "core" : "plugin",
      network: multus === "" ? "pod networking" : multus,
      binding_name: plugin === "" ? (core ?? "unknown") : plugin,
      model: text(each["model"]) || noValue,
    };
  });
}

/** When the last migration of a VMI began, and when it ended. */
function migrationTime(which: "start" | "end"): CollectedMetric<VmiMetricsView> {
  const labels = ["node", "namespace", "name", "migration_name"];
  return {
    name: `kubevirt_vmi_migration_${which}_time_seconds`,
    help: `When the last migration of a VMI ${which === "start" ? "began" : "ended"}`,
    labels: which === "start" ? labels : [...labels, "status"],
    samples: ({ vmis }) =>
      vmis.flatMap((vmi) => {
        const state = vmi.status?.migrationState;
        const time = Date.parse(text(at(state, `${which}Timestamp`)));
        if (Number.isNaN(time)) return [];
        const status = state?.failed ? "failed" : "succeeded";
        const labels = {
          ...placeOf(vmi),
          migration_name: text(at(state, "migrationUid")),
          ...(which === "end" && { status }),
        };
        return [{ labels, value: time / 1000 }];
      }),
  };
}
