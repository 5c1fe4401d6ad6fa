import { expect, test } from "vitest";
import type {
  VirtualMachineInstanceSpec,
  VirtualMachineInstancetypeSpec,
  VirtualMachinePreferenceSpec,
} from "../schema/index.ts";
import { applyInstancetype } from "./apply-instancetype.ts";
import { guestTopology } from "./guest-topology.ts";
import { spreadProblem } from "./spread-check.ts";

const instancetype = (fields: object = {}): VirtualMachineInstancetypeSpec => ({
  cpu: { guest: 4 },
  memory: { guest: "2Gi" },
  ...fields,
});
const spec = (domain: object = {}, fields: object = {}): VirtualMachineInstanceSpec => ({
  domain: { devices: {}, ...domain },
  ...fields,
});

function applied(
  input: VirtualMachineInstanceSpec,
  type?: VirtualMachineInstancetypeSpec,
  preference?: VirtualMachinePreferenceSpec,
): VirtualMachineInstanceSpec {
  const result = applyInstancetype({ spec: input, instancetype: type, preference });
  if (result.kind !== "applied") throw new Error(JSON.stringify(result));
  return result.spec;
}
function conflicts(
  input: VirtualMachineInstanceSpec,
  type: VirtualMachineInstancetypeSpec,
): string[] {
  const result = applyInstancetype({ spec: input, instancetype: type, path: [] });
  return result.kind === "conflicts" ? result.conflicts.map(({ field }) => field) : [];
}

test("an instance type sets CPU, memory and placement", () => {
  const type = instancetype({
    cpu: { guest: 4, model: "host-passthrough", dedicatedCPUPlacement: true, maxSockets: 8 },
    nodeSelector: { a: "b" },
    schedulerName: "s",
    ioThreads: { supplementalPoolThreadCount: 2 },
    ioThreadsPolicy: "auto",
    launchSecurity: { sev: {} },
    gpus: [{ name: "g", deviceName: "d" }],
    hostDevices: [{ name: "h", deviceName: "d" }],
  });
  expect(applied(spec(), type)).toEqual({
    nodeSelector: { a: "b" },
    schedulerName: "s",
    domain: {
      cpu: {
        model: "host-passthrough",
        dedicatedCpuPlacement: true,
        maxSockets: 8,
        sockets: 4,
        cores: 1,
        threads: 1,
      },
      memory: { guest: "2Gi" },
      ioThreads: { supplementalPoolThreadCount: 2 },
      ioThreadsPolicy: "auto",
      launchSecurity: { sev: {} },
      devices: {
        gpus: [{ name: "g", deviceName: "d" }],
        hostDevices: [{ name: "h", deviceName: "d" }],
      },
    },
  });
});

test("does not change the given spec", () => {
  const input = spec({ devices: { disks: [{ name: "d" }] }, cpu: { features: [{ name: "a" }] } });
  const copy = structuredClone(input);
  applied(input, instancetype(), {
    cpu: { preferredCPUFeatures: [{ name: "b" }] },
    devices: { preferredDiskBus: "virtio" },
  });
  expect(input).toEqual(copy);
});

test.each([
  ["sockets", spec({ cpu: { sockets: 1 } }), {}, ["domain.cpu.sockets"]],
  [
    "cores and threads",
    spec({ cpu: { cores: 1, threads: 1 } }),
    {},
    ["domain.cpu.cores", "domain.cpu.threads"],
  ],
  [
    "CPU resources",
    spec({ resources: { requests: { cpu: "1" }, limits: { cpu: "1" } } }),
    {},
    ["domain.resources.requests.cpu", "domain.resources.limits.cpu"],
  ],
  ["model on one side", spec({ cpu: { model: "m" } }), {}, []],
  [
    "model on both sides",
    spec({ cpu: { model: "m" } }),
    { cpu: { guest: 1, model: "n" } },
    ["domain.cpu.model"],
  ],
  [
    "dedicated CPUs on both sides",
    spec({ cpu: { dedicatedCpuPlacement: true } }),
    { cpu: { guest: 1, dedicatedCPUPlacement: false } },
    ["domain.cpu.dedicatedCPUPlacement"],
  ],
  [
    "maximum sockets on both sides",
    spec({ cpu: { maxSockets: 2 } }),
    { cpu: { guest: 1, maxSockets: 4 } },
    [],
  ],
  ["guest memory", spec({ memory: { guest: "1Gi" } }), {}, ["domain.memory.guest"]],
  [
    "only the first memory field",
    spec({ memory: { guest: "1Gi" }, resources: { requests: { memory: "1Gi" } } }),
    {},
    ["domain.memory.guest"],
  ],
  [
    "memory limits",
    spec({ resources: { limits: { memory: "1Gi" } } }),
    {},
    ["domain.resources.limits.memory"],
  ],
  [
    "node selector, even if empty",
    spec({}, { nodeSelector: {} }),
    { nodeSelector: {} },
    ["nodeSelector"],
  ],
  [
    "an empty list of GPUs in the VM",
    spec({ devices: { gpus: [] } }),
    { gpus: [{ name: "g", deviceName: "d" }] },
    [],
  ],
  [
    "GPUs on both sides",
    spec({ devices: { gpus: [{ name: "g", deviceName: "d" }] } }),
    { gpus: [{ name: "g", deviceName: "d" }] },
    ["domain.devices.gpus"],
  ],
  [
    "I/O threads",
    spec({ ioThreadsPolicy: "auto" }),
    { ioThreadsPolicy: "shared" },
    ["domain.ioThreadsPolicy"],
  ],
] as const)("conflict: %s", (_, input, fields, expected) => {
  expect(conflicts(input as VirtualMachineInstanceSpec, instancetype(fields))).toEqual(expected);
});

test("adds annotations; another value conflicts, the same does not", () => {
  const type = instancetype({ annotations: { a: "1", b: "2" } });
  const apply = (annotations: Record<string, string>) =>
    applyInstancetype({ spec: spec(), annotations, instancetype: type });
  expect(apply({ a: "1", z: "9" })).toMatchObject({ annotations: { a: "1", b: "2", z: "9" } });
  expect(apply({ a: "x" })).toMatchObject({ conflicts: [{ field: "annotations.a" }] });
});

test.each([
  ["2Gi", 50, "1Gi"],
  ["1G", 15, "850M"],
  ["1Gi", 10, "966367616"],
  ["1Gi", 150, "-512Mi"],
  ["1Gi", 0, undefined],
  ["1Gi", -5, undefined],
])("%s overcommitted by %i %% requests %s", (guest, overcommitPercent, expected) => {
  const result = applied(spec(), instancetype({ memory: { guest, overcommitPercent } }));
  expect(result.domain.resources?.requests?.["memory"]).toBe(expected);
});

const spread = (across?: string, ratio?: number): VirtualMachinePreferenceSpec => ({
  cpu: {
    preferredCPUTopology: "spread",
    spreadOptions: { ...(across ? { across } : {}), ...(ratio === undefined ? {} : { ratio }) },
  },
});
const topology = (preferredCPUTopology: string) => ({ cpu: { preferredCPUTopology } });

test.each([
  [12, undefined, [12, 1, 1]],
  [12, topology("cores"), [1, 12, 1]],
  [12, topology("preferThreads"), [1, 1, 12]],
  [12, topology("any"), [12, 1, 1]],
  [12, topology("bogus"), [1, 1, 1]],
  [1, spread(), [1, 1, 1]],
  [12, spread(), [6, 2, 1]],
  [12, { ...spread(), preferSpreadSocketToCoreRatio: 3 }, [4, 3, 1]],
  [12, spread("CoresThreads", 3), [1, 4, 3]],
  [12, spread("SocketsCoresThreads", 3), [2, 3, 2]],
  [12, spread("Bogus", 3), [1, 1, 1]],
] as const)("%i vCPUs with %j become %j", (vCpus, preference, [sockets, cores, threads]) => {
  expect(guestTopology(vCpus, preference)).toEqual({ sockets, cores, threads });
});

test("reports a ratio of zero instead of dividing by it", () => {
  const result = applyInstancetype({
    spec: spec(),
    instancetype: instancetype(),
    preference: spread("SocketsCores", 0),
  });
  expect(result).toMatchObject({ kind: "invalid" });
  expect(spreadProblem(instancetype(), spread("CoresThreads", 0))?.kind).toBe("zero-ratio");
});

test.each([
  [4, spread("SocketsCores", 3), "uneven"],
  [6, spread("SocketsCores", 3), undefined],
  [6, spread("CoresThreads", 4), "uneven"],
  [5, spread("SocketsCoresThreads", 1), "uneven"],
  [12, spread("SocketsCoresThreads", 3), undefined],
  [12, spread("SocketsCoresThreads", 4), "uneven"],
  [5, spread("Bogus", 2), undefined],
  [5, topology("cores"), undefined],
] as const)("%i vCPUs spread by %j: %s", (guest, preference, expected) => {
  expect(spreadProblem(instancetype({ cpu: { guest } }), preference)?.kind).toBe(expected);
});

test("returns the spec unchanged without either", () => {
  const input = spec();
  expect(applyInstancetype({ spec: input })).toEqual({
    kind: "applied",
    spec: input,
    annotations: undefined,
  });
});
