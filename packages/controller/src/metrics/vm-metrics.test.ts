import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { type VmMetricsView, vmMetrics } from "./vm-metrics.ts";

function vmOf(spec: object, status: object = {}): VirtualMachine {
  const metadata = { namespace: "ns", name: "a", creationTimestamp: "2026-01-01T00:00:00Z" };
  return { metadata, spec, status } as unknown as VirtualMachine;
}

/** The values of a metric, each with its labels except the VM's name. */
function samples(name: string, vm: VirtualMachine, view: Partial<VmMetricsView> = {}): unknown[] {
  const metric = vmMetrics.find((each) => each.name === name);
  const nothing = { vmiOf: () => undefined, claimOf: () => undefined };
  return (metric?.samples({ vms: [vm], ...nothing, ...view }) ?? []).map(({ labels, value }) => {
    expect(Object.keys(labels).toSorted()).toEqual(metric?.labels.toSorted());
    const { name: _, namespace: __, ...others } = labels;
    return [...Object.values(others), value];
  });
}

const template = (domain: object, others: object = {}): object => ({
  template: {
    metadata: { annotations: { "vm.kubevirt.io/os": "debian" } },
    spec: { domain, ...others },
  },
});

test("describes a VM by its template and its status", () => {
  const spec = { ...template({ machine: { type: "q35" } }), preference: { name: "p" } };
  const vm = vmOf(spec, { printableStatus: "CrashLoopBackOff" });
  expect(samples("kubevirt_vm_info", vm)).toEqual([
    ["debian", "<none>", "<none>", "q35", "<none>", "p", "crashloopbackoff", "error", 1],
  ]);
  expect(samples("kubevirt_vm_create_date_timestamp_seconds", vm)).toEqual([[1_767_225_600]]);
});

test("reports the time of the last change under the group of the status, and 0 under the others", () => {
  const condition = (type: string, lastTransitionTime: string) => ({ type, lastTransitionTime });
  const conditions = [
    condition("Ready", "2026-01-01T00:00:10Z"),
    condition("Failure", "2026-01-01T00:00:05Z"),
    condition("RestartRequired", "2026-01-01T00:00:59Z"),
  ];
  const vm = vmOf(template({}), { printableStatus: "Stopped", conditions });
  const at = (group: string) =>
    samples(`kubevirt_vm_${group}_status_last_transition_timestamp_seconds`, vm);
  expect(at("non_running")).toEqual([[1_767_225_610]]);
  for (const group of ["starting", "running", "migrating", "error"])
    expect(at(group)).toEqual([[0]]);
  const odd = vmOf(template({}), { printableStatus: "Unheard" });
  expect(samples("kubevirt_vm_info", odd)[0]).toContain("<unknown>");
});

test.each([
  [
    {},
    [
      ["cpu", "cores", "default", 1],
      ["cpu", "threads", "default", 1],
      ["cpu", "sockets", "default", 1],
    ],
  ],
  [
    { cpu: { cores: 2, threads: 4 }, memory: { guest: "1Ki", hugepages: { pageSize: "2Mi" } } },
    [
      ["memory", "bytes", "guest", 1024],
      ["memory", "bytes", "hugepages", 2_097_152],
      ["cpu", "cores", "domain", 2],
      ["cpu", "threads", "domain", 4],
      ["cpu", "sockets", "domain", 1],
    ],
  ],
  [
    { resources: { requests: { memory: "1024", cpu: "500m" } }, cpu: { cores: 2 } },
    [
      ["memory", "bytes", "domain", 1024],
      ["cpu", "cores", "requests", 0.5],
    ],
  ],
  [
    { resources: { requests: { cpu: "many", memory: 5 } } },
    [
      ["memory", "bytes", "domain", 5],
      ["cpu", "cores", "default", 1],
      ["cpu", "threads", "default", 1],
      ["cpu", "sockets", "default", 1],
    ],
  ],
])("reports requests of %j", (domain, expected) => {
  expect(samples("kubevirt_vm_resource_requests", vmOf(template(domain)))).toEqual(expected);
});

test("reports limits", () => {
  const vm = vmOf(template({ resources: { limits: { memory: "2Ki", cpu: 2 } } }));
  expect(samples("kubevirt_vm_resource_limits", vm)).toEqual([
    ["memory", "bytes", 2048],
    ["cpu", "cores", 2],
  ]);
});

test("takes what an instance type sets from the VMI", () => {
  const vm = vmOf({ ...template({}), instancetype: { name: "small" } });
  expect(samples("kubevirt_vm_resource_requests", vm)).toEqual([]);
  const vmi = { spec: { domain: { cpu: { cores: 1, sockets: 3, threads: 1 } } } };
  const vmiOf = () => vmi as unknown as VirtualMachineInstance;
  expect(samples("kubevirt_vm_resource_requests", vm, { vmiOf })).toContainEqual([
    ...["cpu", "sockets", "domain"],
    3,
  ]);
});

test("reports the size of claims by disk; a missing claim has none", () => {
  const volumes = [
    { name: "root", dataVolume: { name: "image" } },
    { name: "gone", persistentVolumeClaim: { claimName: "gone" } },
    { name: "keys", secret: { secretName: "keys" } },
  ];
  const claim = { spec: { volumeMode: "Block", resources: { requests: { storage: "5Gi" } } } };
  const claimOf = (_: unknown, name: string) => (name === "image" ? claim : undefined);
  expect(
    samples("kubevirt_vm_disk_allocated_size_bytes", vmOf(template({}, { volumes })), { claimOf }),
  ).toEqual([["image", "Block", "root", 5 * 2 ** 30]]);
});

test("reports interfaces as for VMIs", () => {
  const devices = { interfaces: [{ name: "default", masquerade: {} }] };
  const networks = [{ name: "default", pod: {} }];
  expect(samples("kubevirt_vm_vnic_info", vmOf(template({ devices }, { networks })))).toEqual([
    ["default", "core", "pod networking", "masquerade", "<none>", 1],
  ]);
});
