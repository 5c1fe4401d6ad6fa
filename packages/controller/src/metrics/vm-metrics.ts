import { type Names, names as namesOf } from "@virtkit/api/names";
import { parseQuantity } from "@virtkit/api/quantity";
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
} from "@virtkit/api/schema";
import { at, entry, isSet, text } from "@virtkit/api/shape";
import { conditionsOf } from "@virtkit/api/status";
import { claimNameOf } from "@virtkit/launcher-pod/traits";
import type { ClaimObject } from "../vmi/cluster-objects.ts";
import type { CollectedMetric, Sample } from "./collected-metric.ts";
import { interfaceLabels, noValue } from "./vmi-metrics.ts";

/** What the metrics of VMs are computed from. */
export interface VmMetricsView {
  readonly vms: readonly VirtualMachine[];
  /** The VMI of a VM, if it has one. It has what an instance type sets. */
  vmiOf(vm: VirtualMachine): VirtualMachineInstance | undefined;
  claimOf(vm: VirtualMachine, name: string): ClaimObject | undefined;
  readonly names?: Names;
}

/** Printable statuses that KubeVirt counts together. */
const groups: Readonly<Record<string, readonly string[]>> = {
  starting: ["Provisioning", "Starting", "WaitingForVolumeBinding"],
  running: ["Running"],
  migrating: ["Migrating"],
  non_running: ["Stopped", "Paused", "Stopping", "Terminating"],
  error: [
    ...["CrashLoopBackOff", "Unknown", "ErrorUnschedulable", "ErrImagePull", "ImagePullBackOff"],
    ...["ErrorPvcNotFound", "DataVolumeError"],
  ],
};

const named = ["name", "namespace"] as const;

/** The metrics of VMs that virt-controller serves, under KubeVirt's names. */
export const vmMetrics: readonly CollectedMetric<VmMetricsView>[] = [
  {
    name: "kubevirt_vm_info",
    help: "Information about a VM",
    labels: [
      ...[...named, "os", "workload", "flavor", "machine_type"],
      ...["instance_type", "preference", "status", "status_group"],
    ],
    samples: ({ vms, names = namesOf() }) =>
      vms.map((vm) => ({ labels: infoOf(vm, names), value: 1 })),
  },
  {
    name: "kubevirt_vm_create_date_timestamp_seconds",
    help: "When a VM was created",
    labels: named,
    samples: ({ vms }) =>
      vms.map((vm) => ({
        labels: identityOf(vm),
        value: seconds(text(vm.metadata?.creationTimestamp)),
      })),
  },
  ...Object.keys(groups).map(
    (group): CollectedMetric<VmMetricsView> => ({
      name: `kubevirt_vm_${group}_status_last_transition_timestamp_seconds`,
      help: `When the VM entered its present status, if that is ${group.replace("_", " ")}; otherwise 0`,
      type: "counter",
      labels: named,
      samples: ({ vms }) =>
        vms.map((vm) => ({
          labels: identityOf(vm),
          value: groupOf(vm, "error") === group ? lastTransition(vm) : 0,
        })),
    }),
  ),
  {
    name: "kubevirt_vm_resource_requests",
    help: "What a VM requests",
    labels: [...named, "resource", "unit", "source"],
    samples: (view) => view.vms.flatMap((vm) => requestsOf(vm, specOf(vm, view))),
  },
  {
    name: "kubevirt_vm_resource_limits",
    help: "The limits of a VM",
    labels: [...named, "resource", "unit"],
    samples: (view) => view.vms.flatMap((vm) => limitsOf(vm, specOf(vm, view))),
  },
  {
    name: "kubevirt_vm_disk_allocated_size_bytes",
    help: "The size of the claims that a VM uses",
    labels: [...named, "persistentvolumeclaim", "volume_mode", "device"],
    samples: (view) => view.vms.flatMap((vm) => disksOf(vm, view)),
  },
  {
    name: "kubevirt_vm_vnic_info",
    help: "The network interfaces of a VM",
    labels: [...named, "vnic_name", "binding_type", "network", "binding_name", "model"],
    samples: ({ vms }) =>
      vms.flatMap((vm) =>
        interfaceLabels(vm.spec.template?.spec).map((labels) => ({
          labels: { ...identityOf(vm), ...labels },
          value: 1,
        })),
      ),
  },
];

function identityOf({ metadata }: VirtualMachine): Sample["labels"] {
  return { name: text(metadata?.name), namespace: text(metadata?.namespace) };
}

function infoOf(vm: VirtualMachine, names: Names): Sample["labels"] {
  const { template, instancetype, preference } = vm.spec;
  const annotations = template?.metadata?.annotations;
  const note = (key: string): string => entry(annotations, `vm.${names.group}/${key}`) || noValue;
  return {
    ...identityOf(vm),
    ...{ os: note("os"), workload: note("workload"), flavor: note("flavor") },
    machine_type: text(template?.spec?.domain?.machine?.type) || noValue,
    instance_type: text(instancetype?.name) || noValue,
    preference: text(preference?.name) || noValue,
    status: text(vm.status?.printableStatus).toLowerCase(),
    status_group: groupOf(vm, "<unknown>"),
  };
}

function groupOf({ status }: VirtualMachine, other: string): string {
  const shown = text(status?.printableStatus);
  return Object.keys(groups).find((group) => groups[group]?.includes(shown)) ?? other;
}

/** The last transition of the conditions that describe the VM; 0 if there are none. */
function lastTransition(vm: VirtualMachine): number {
  const times = conditionsOf(vm)
    .filter(({ type }) => ["Ready", "Failure", "Paused"].includes(type))
    .map(({ lastTransitionTime }) => seconds(text(lastTransitionTime)));
  return Math.max(0, ...times.filter((time) => !Number.isNaN(time)));
}

function seconds(time: string): number {
  return Math.floor(Date.parse(time) / 1000);
}

/**
 * What the VM should have; undefined if an instance type sets it and there is no VMI to show it.
 */
function specOf(
  vm: VirtualMachine,
  { vmiOf }: VmMetricsView,
): VirtualMachineInstanceSpec | undefined {
  return isSet(vm.spec.instancetype) ? vmiOf(vm)?.spec : vm.spec.template?.spec;
}

function requestsOf(
  vm: VirtualMachine,
  spec: VirtualMachineInstanceSpec | undefined,
): readonly Sample[] {
  if (!spec) return [];
  const { memory, cpu } = spec.domain;
  const asked = at(spec.domain, "resources", "requests");
  const sample = (resource: string, unit: string, source: string, value: number): Sample => ({
    labels: { ...identityOf(vm), resource, unit, source },
    value,
  });
  const memories = [
    ["domain", at(asked, "memory")],
    ["guest", memory?.guest],
    ["hugepages", memory?.hugepages?.pageSize],
  ].flatMap(([source, found]) => {
    const value = amount(found);
    return value ? [sample("memory", "bytes", text(source), value)] : [];
  });
  const cores = amount(at(asked, "cpu"));
  if (cores) return [...memories, sample("cpu", "cores", "requests", cores)];
  const source = cpu ? "domain" : "default";
  const cpus = (["cores", "threads", "sockets"] as const).map((unit) =>
    sample("cpu", unit, source, cpu?.[unit] ?? 1),
  );
  return [...memories, ...cpus];
}

function limitsOf(
  vm: VirtualMachine,
  spec: VirtualMachineInstanceSpec | undefined,
): readonly Sample[] {
  const limits = at(spec?.domain, "resources", "limits");
  return (
    [
      ["memory", "bytes"],
      ["cpu", "cores"],
    ] as const
  ).flatMap(([resource, unit]) => {
    const value = amount(at(limits, resource));
    return value ? [{ labels: { ...identityOf(vm), resource, unit }, value }] : [];
  });
}

function disksOf(vm: VirtualMachine, { claimOf }: VmMetricsView): readonly Sample[] {
  return (vm.spec.template?.spec?.volumes ?? []).flatMap((volume) => {
    const name = claimNameOf(volume);
    const claim = name === "" ? undefined : claimOf(vm, name);
    const value = amount(at(claim?.spec, "resources", "requests", "storage"));
    if (!claim || value === undefined) return [];
    const labels = {
      ...identityOf(vm),
      persistentvolumeclaim: name,
      volume_mode: text(claim.spec?.volumeMode) || "Filesystem",
      device: volume.name,
    };
    return [{ labels, value }];
  });
}

/**
 * A quantity as a number; undefined if it is missing or invalid, because collecting metrics must
 * not fail.
 */
function amount(quantity: unknown): number | undefined {
  if (!isSet(quantity)) return undefined;
  try {
    return Number(parseQuantity(String(quantity)).milliValue()) / 1000;
  } catch {
    // Another component owns this field; admission reports the fault.
    return undefined;
  }
}
