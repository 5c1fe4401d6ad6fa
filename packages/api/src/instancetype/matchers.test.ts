import { expect, test } from "vitest";
import { clusterConfig } from "../config/index.ts";
import { names } from "../names/index.ts";
import type { VirtualMachine } from "../schema/index.ts";
import { expandVm } from "./expand-vm.ts";
import { inferMatcher, type Labelled } from "./infer-matcher.ts";
import { matcherAnnotations } from "./matcher-annotations.ts";
import { matcherFaults } from "./matcher-faults.ts";
import { matcherScope } from "./matcher-scope.ts";
import { unmetRequirement } from "./requirements.ts";
import { type MatcherLookup, settleMatchers } from "./vm-matchers.ts";

const config = clusterConfig();
const vm = (spec: object = {}, volume: object = {}): VirtualMachine => ({
  metadata: { name: "vm", namespace: "ns" },
  spec: {
    template: {
      spec: {
        domain: { devices: {}, memory: { guest: "1Gi" } },
        volumes: [{ name: "v", ...volume }],
      },
    },
    ...spec,
  },
});
const labelled = (name: string, spec: unknown = {}): Labelled => ({
  metadata: {
    labels: {
      "instancetype.kubevirt.io/default-instancetype": name,
      "instancetype.kubevirt.io/default-instancetype-kind": "VirtualMachineInstancetype",
    },
  },
  spec,
});
const lookup = (objects: Record<string, Labelled> = {}): MatcherLookup => ({
  claim: (ns, name) => objects[`claim ${ns}/${name}`],
  dataVolume: (ns, name) => objects[`dv ${ns}/${name}`],
  dataSource: (ns, name) => objects[`ds ${ns}/${name}`],
  snapshot: (ns, name) => objects[`snapshot ${ns}/${name}`],
  preference: (ns, name) => objects[`preference ${ns}/${name}`]?.spec as never,
  clusterPreference: (name) => objects[`preference ${name}`]?.spec as never,
  preferenceRevision: (_, name) =>
    name === "r" ? { objectName: "p", spec: { preferredArchitecture: "s390x" } } : undefined,
});
const onClaim = { persistentVolumeClaim: { claimName: "c" } };
const onDv = { dataVolume: { name: "d" } };
const template = (spec: object) => ({ dataVolumeTemplates: [{ metadata: { name: "d" }, spec }] });
const inferred = { name: "u1", kind: "VirtualMachineInstancetype" };
const u1 = labelled("u1");
const bare: Labelled = { spec: {} };

test.each([
  ["a claim", vm({}, onClaim), { "claim ns/c": u1 }, inferred],
  ["a claim without labels", vm({}, onClaim), { "claim ns/c": bare }, "ignorable"],
  ["a claim that is missing", vm({}, onClaim), {}, "fatal"],
  ["a DataVolume", vm({}, onDv), { "dv ns/d": u1 }, inferred],
  ["a DataVolume that was garbage-collected", vm({}, onDv), { "claim ns/d": u1 }, inferred],
  [
    "the source of a cloned DataVolume",
    vm({}, onDv),
    {
      "dv ns/d": { spec: { source: { pvc: { namespace: "x", name: "gold" } } } },
      "claim x/gold": u1,
    },
    inferred,
  ],
  [
    "a snapshot in a template",
    vm(template({ source: { snapshot: { namespace: "x", name: "s" } } }), onDv),
    { "snapshot x/s": u1 },
    inferred,
  ],
  [
    "a DataSource",
    vm(template({ sourceRef: { kind: "DataSource", name: "f" } }), onDv),
    { "ds ns/f": u1 },
    inferred,
  ],
  [
    "the source of a DataSource",
    vm(template({ sourceRef: { kind: "DataSource", name: "f", namespace: "x" } }), onDv),
    {
      "ds x/f": { spec: { source: { pvc: { namespace: "x", name: "gold" } } } },
      "claim x/gold": u1,
    },
    inferred,
  ],
  [
    "an empty DataSource",
    vm(template({ sourceRef: { kind: "DataSource", name: "f" } }), onDv),
    { "ds ns/f": bare },
    "ignorable",
  ],
  [
    "another kind of source",
    vm(template({ sourceRef: { kind: "Odd", name: "f" } }), onDv),
    {},
    "ignorable",
  ],
  ["a download", vm(template({ source: { http: {} } }), onDv), {}, "ignorable"],
  ["another kind of volume", vm({}, { containerDisk: { image: "i" } }), {}, "ignorable"],
] as const)("infers from %s", (_, subject, objects, expected) => {
  const answer = inferMatcher(
    subject as VirtualMachine,
    "v",
    "instancetype",
    lookup(objects),
    config,
  );
  const brief = "name" in answer ? answer : answer.ignorable ? "ignorable" : "fatal";
  expect(brief).toEqual(expected);
});

test("never ignores a volume that does not exist", () => {
  expect(inferMatcher(vm(), "nope", "preference", lookup(), config)).toMatchObject({
    ignorable: false,
  });
});

const infers = (policy?: string) => ({
  instancetype: {
    inferFromVolume: "v",
    ...(policy ? { inferFromVolumeFailurePolicy: policy } : {}),
  },
});

test("an inferred instance type replaces the matcher; with Ignore it also replaces the memory", () => {
  const settle = (policy?: string) =>
    settleMatchers(vm(infers(policy), onClaim), undefined, lookup({ "claim ns/c": u1 }), config);
  expect(settle()).toMatchObject({ vm: { spec: { instancetype: inferred } } });
  expect(settle()).toHaveProperty("vm.spec.template.spec.domain.memory");
  expect(settle("Ignore")).not.toHaveProperty("vm.spec.template.spec.domain.memory");
});

test("refuses what cannot be inferred, or ignores it if the VM says so", () => {
  const settle = (policy: string, objects: Record<string, Labelled>) =>
    settleMatchers(vm(infers(policy), onClaim), undefined, lookup(objects), config);
  expect(settle("Reject", { "claim ns/c": bare }).kind).toBe("not-inferred");
  expect(settle("Ignore", { "claim ns/c": bare })).not.toHaveProperty("vm.spec.instancetype");
  expect(settle("Ignore", {}).kind).toBe("not-inferred");
});

const preference = {
  spec: {
    preferredArchitecture: "arm64",
    machine: { preferredMachineType: "virt" },
    volumes: { preferredStorageClassName: "fast" },
  },
};

test("takes architecture, machine type and storage class from the preference", () => {
  const subject = vm({
    preference: { name: "p" },
    dataVolumeTemplates: [
      { metadata: { name: "a" }, spec: { storage: {} } },
      { metadata: { name: "b" }, spec: { pvc: { storageClassName: "mine" } } },
    ],
  });
  expect(
    settleMatchers(subject, undefined, lookup({ "preference p": preference }), config),
  ).toMatchObject({
    vm: {
      spec: {
        template: { spec: { architecture: "arm64", domain: { machine: { type: "virt" } } } },
        dataVolumeTemplates: [
          { spec: { storage: { storageClassName: "fast" } } },
          { spec: { pvc: { storageClassName: "mine" } } },
        ],
      },
    },
  });
  expect(settleMatchers(subject, undefined, lookup(), config).kind).toBe("settled");
});

test("a revision takes precedence over the present preference of the same name", () => {
  const architecture = (subject: VirtualMachine) => {
    const settled = settleMatchers(
      subject,
      undefined,
      lookup({ "preference p": preference, "preference q": preference }),
      config,
    );
    return settled.kind === "settled" ? settled.vm.spec.template.spec?.architecture : settled;
  };
  expect(architecture(vm({ preference: { name: "p", revisionName: "r" } }))).toBe("s390x");
  const recorded = { preferenceRef: { controllerRevisionRef: { name: "r" } } };
  expect(architecture({ ...vm({ preference: { name: "p" } }), status: recorded })).toBe("s390x");
  expect(architecture({ ...vm({ preference: { name: "q" } }), status: recorded })).toBe("arm64");
});

test.each([
  [{ instancetype: {} }, ["FieldValueNotFound spec.instancetype"]],
  [
    { preference: { inferFromVolume: "v", name: "a", kind: "b" } },
    ["FieldValueNotSupported spec.preference.name", "FieldValueNotSupported spec.preference.kind"],
  ],
  [
    { instancetype: { name: "a", inferFromVolumeFailurePolicy: "Odd" } },
    ["FieldValueInvalid spec.instancetype.inferFromVolumeFailurePolicy"],
  ],
  [{ instancetype: { name: "a" } }, []],
])("faults of %j: %j", (spec, expected) => {
  const faults = matcherFaults(vm(spec), undefined);
  expect(faults.map(({ reason, field }) => `${reason} ${field}`)).toEqual(expected);
});

test("another name needs another revision", () => {
  const before = vm({ preference: { name: "a", revisionName: "r" } });
  const renamed = (revisionName?: string) =>
    matcherFaults(
      vm({ preference: { name: "b", ...(revisionName ? { revisionName } : {}) } }),
      before,
    );
  expect(renamed("r")).toMatchObject([{ field: "spec.preference.revisionName" }]);
  expect(renamed("s")).toEqual([]);
  expect(renamed()).toEqual([]);
});

test.each([
  ["", "cluster"],
  ["VirtualMachineClusterPreference", "cluster"],
  ["virtualmachineclusterpreferences", "cluster"],
  ["VIRTUALMACHINEPREFERENCE", "namespace"],
  ["virtualmachinepreferences", "namespace"],
  ["VirtualMachineInstancetype", undefined],
  ["s", undefined],
])("kind %j is %s-scoped", (kind, scope) => {
  expect(matcherScope("preference", kind)).toBe(scope);
});

test("annotations of a VMI name its instance type and its preference", () => {
  expect(matcherAnnotations(vm(), config)).toBeUndefined();
  const both = {
    instancetype: { name: "a" },
    preference: { name: "p", kind: "VirtualMachinePreference" },
  };
  expect(matcherAnnotations(vm(both), config)).toEqual({
    "kubevirt.io/cluster-instancetype-name": "a",
    "kubevirt.io/preference-name": "p",
  });
  const renamed = clusterConfig({}, { names: names({ group: "vm.example.com" }) });
  expect(Object.keys(matcherAnnotations(vm(both), renamed) ?? {})).toEqual([
    "vm.example.com/cluster-instancetype-name",
    "vm.example.com/preference-name",
  ]);
});

const cpu = (guest: number, topology?: string, across?: string) => ({
  requirements: { cpu: { guest } },
  cpu: {
    ...(topology ? { preferredCPUTopology: topology } : {}),
    ...(across ? { spreadOptions: { across } } : {}),
  },
});
const has = (sockets: number, cores: number, threads: number) => ({
  domain: { devices: {}, cpu: { sockets, cores, threads } },
});
const type = { cpu: { guest: 2 }, memory: { guest: "1Gi" } };

test.each([
  ["enough of the type", type, cpu(2), has(0, 0, 0), undefined],
  ["too little of the type", type, cpu(4), has(8, 1, 1), ["spec.instancetype"]],
  [
    "no CPU section",
    undefined,
    cpu(1),
    { domain: { devices: {} } },
    ["spec.template.spec.domain.cpu"],
  ],
  ["sockets", undefined, cpu(4), has(4, 1, 1), undefined],
  [
    "cores that do not count",
    undefined,
    cpu(4),
    has(1, 4, 1),
    ["spec.template.spec.domain.cpu.sockets"],
  ],
  ["any", undefined, cpu(4, "any"), has(2, 2, 1), undefined],
  [
    "spread",
    undefined,
    cpu(4, "spread", "CoresThreads"),
    has(4, 2, 1),
    ["spec.template.spec.domain.cpu.cores", "spec.template.spec.domain.cpu.threads"],
  ],
  ["an unknown way to spread", undefined, cpu(1, "spread", "Bogus"), has(4, 2, 1), []],
  ["an unknown topology", undefined, cpu(9, "bogus"), has(1, 1, 1), undefined],
  [
    "memory of the type",
    type,
    { requirements: { memory: { guest: "2Gi" } } },
    has(1, 1, 1),
    ["spec.instancetype"],
  ],
  [
    "memory of the VM",
    undefined,
    { requirements: { memory: { guest: "1Gi" } } },
    { domain: { devices: {}, memory: { guest: "1024Mi" } } },
    undefined,
  ],
  [
    "no memory",
    undefined,
    { requirements: { memory: { guest: "1Gi" } } },
    has(1, 1, 1),
    ["spec.template.spec.domain.memory"],
  ],
  [
    "architecture",
    undefined,
    { requirements: { architecture: "arm64" } },
    { ...has(1, 1, 1), architecture: "amd64" },
    ["spec.template.spec.architecture"],
  ],
] as const)("requirement: %s", (_, instancetype, preference, spec, fields) => {
  expect(unmetRequirement(instancetype, preference as never, spec as never)?.fields).toEqual(
    fields,
  );
});

test("expands a VM in its template, or refuses it as a whole", () => {
  const bareVm: VirtualMachine = { spec: { template: { spec: { domain: { devices: {} } } } } };
  const annotated = { ...type, annotations: { a: "b" } };
  expect(expandVm(bareVm, annotated, undefined)).toMatchObject({
    vm: {
      spec: {
        template: {
          metadata: { annotations: { a: "b" } },
          spec: { domain: { cpu: { sockets: 2 }, memory: { guest: "1Gi" } } },
        },
      },
    },
  });
  expect(bareVm.spec.template).not.toHaveProperty("metadata");
  expect(expandVm(vm(), type, undefined)).toMatchObject({
    conflicts: [{ field: "spec.template.spec.domain.memory.guest" }],
  });
  const uneven = { cpu: { preferredCPUTopology: "spread", spreadOptions: { ratio: 3 } } };
  expect(expandVm(bareVm, type, uneven)).toMatchObject({
    conflicts: [{ field: "instancetype.spec.cpu.guest" }],
  });
});
