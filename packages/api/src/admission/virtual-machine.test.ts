import { expect, test } from "vitest";
import type { VirtualMachineInstance } from "../schema/index.ts";
import {
  type Change,
  type ClusterOptions,
  cluster,
  instance,
  overlay,
  shown,
} from "../testing/verdict.ts";
import type { AdmissionLookup } from "./admission-lookup.ts";
import { emptyCluster } from "./admission-lookup.ts";
import { admit } from "./admit.ts";

/** A VirtualMachine that admission accepts, with a change. */
function vmiOf(spec: Change = {}, rest: Change = {}): Record<string, unknown> {
  const base = {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachine",
    metadata: { name: "vm", namespace: "here" },
    spec: { runStrategy: "Halted", template: { metadata: {}, spec: instance()["spec"] } },
  };
  return overlay(base, { ...rest, spec });
}

interface Setting extends ClusterOptions {
  readonly lookup?: AdmissionLookup;
  readonly oldObject?: unknown;
}

function judge(object: unknown, { lookup = emptyCluster, oldObject, ...options }: Setting = {}) {
  const operation = oldObject === undefined ? "CREATE" : "UPDATE";
  const request = {
    kind: "VirtualMachine",
    operation,
    object,
    oldObject,
    namespace: "here",
  } as const;
  return admit(request, cluster(options), lookup, { now: () => new Date("2026-01-01T00:00:00Z") });
}

function verdict(object: unknown, setting: Setting = {}): string[] {
  return judge(object, setting).causes.map(shown);
}

const template = (spec: Change, rest: Change = {}): Change => ({ template: { spec, ...rest } });
const at = "spec.template.spec";

test("judges a template like the VM that it becomes, with paths in the template", () => {
  expect(judge(vmiOf())).toEqual({ allowed: true, causes: [], warnings: [] });
  expect(verdict(vmiOf(template({ hostname: "Web" })))).toEqual([`Invalid ${at}.hostname`]);
  const labels = { "kubevirt.io/nodeName": "n" };
  expect(verdict(vmiOf(template({}, { metadata: { labels } })))).toEqual([
    "NotSupported spec.template.metadata.labels",
  ]);
});

test("does not require what defaulting fills in", () => {
  const bare = {
    domain: { machine: undefined, devices: { disks: undefined } },
    architecture: undefined,
  };
  expect(verdict(vmiOf(template(bare)))).toEqual([]);
});

test("leaves to the run what only a run can show: memory, Hyper-V, devices of the architecture", () => {
  const domain = {
    memory: undefined,
    features: { hyperv: { synic: { enabled: true } } },
    devices: { watchdog: { name: "w", diag288: {} } },
  };
  expect(verdict(vmiOf(template({ domain })))).toEqual([]);
});

test("refuses if the cluster's default network cannot be used", () => {
  const offline = { networks: undefined, domain: { devices: { interfaces: undefined } } };
  const configuration = { network: { permitBridgeInterfaceOnPodNetwork: false } };
  expect(judge(vmiOf(template(offline)), { configuration })).toMatchObject({
    code: 400,
    causes: [],
  });
});

test("accepts anything in a VM that is being deleted", () => {
  const metadata = { deletionTimestamp: "2026-01-01T00:00:00Z" };
  expect(judge(vmiOf({ runStrategy: "Sometimes" }, { metadata })).allowed).toBe(true);
});

test("refuses removed bindings for new VMs only", () => {
  const slirp = {
    domain: { devices: { interfaces: [{ name: "default", slirp: {}, masquerade: {} }] } },
  };
  expect(verdict(vmiOf(template(slirp)))).toEqual([
    "Invalid spec.domain.devices.interfaces[0].slirp",
  ]);
  expect(verdict(vmiOf(template(slirp)), { oldObject: vmiOf(template(slirp)) })).toEqual([]);
  const passt = {
    domain: { devices: { interfaces: [{ name: "default", passt: {}, masquerade: {} }] } },
  };
  expect(verdict(vmiOf(template(passt)), { gates: ["Passt"] })).toEqual(["NotSupported"]);
});

const taking = (found: ReturnType<NonNullable<AdmissionLookup["instancetypeOf"]>>): Setting => ({
  lookup: { ...emptyCluster, instancetypeOf: () => found },
});
const small = { cpu: { guest: 1 }, memory: { guest: "2Gi" } };
const sizeless = template({ domain: { memory: undefined } });

test("a VM gets its size from its instancetype or sets it itself, not both", () => {
  expect(verdict(vmiOf(sizeless), taking({ instancetype: small }))).toEqual([]);
  expect(verdict(vmiOf({ runStrategy: "x" }), taking({ instancetype: small }))).toEqual([
    `Invalid ${at}.domain.memory.guest`,
  ]);
});

test("an instancetype must provide what a preference requires", () => {
  const preference = { requirements: { memory: { guest: "4Gi" } } };
  expect(verdict(vmiOf(sizeless), taking({ instancetype: small, preference }))).toEqual([
    "NotFound spec.instancetype",
  ]);
});

test("refuses vCPUs that cannot be spread first", () => {
  const instancetype = { cpu: { guest: 3 }, memory: { guest: "2Gi" } };
  const preference = { cpu: { preferredCPUTopology: "spread" } };
  expect(verdict(vmiOf({ runStrategy: "x" }), taking({ instancetype, preference }))).toEqual([
    "Invalid instancetype.spec.cpu.guest",
  ]);
});

test.each<[Change, ClusterOptions, string[]]>([
  [{ runStrategy: "Always" }, {}, []],
  [{ runStrategy: undefined, running: true }, {}, []],
  [{ running: true }, {}, ["Invalid spec.running"]],
  [{ runStrategy: undefined }, {}, ["Invalid spec.running"]],
  [{ runStrategy: "Sometimes" }, {}, ["Invalid spec.runStrategy"]],
  [{ runStrategy: "WaitAsReceiver" }, {}, ["Invalid spec.runStrategy"]],
  [{ runStrategy: "WaitAsReceiver" }, { gates: ["DecentralizedLiveMigration"] }, []],
])("%j %j: %j", (spec, options, expected) => {
  expect(verdict(vmiOf(spec), options)).toEqual(expected);
});

test("allows running with a warning", () => {
  expect(judge(vmiOf({ runStrategy: undefined, running: false })).warnings).toHaveLength(1);
});

const memory = (change: Change, domain: Change = {}, spec: Change = {}): Change =>
  template({
    ...spec,
    domain: { memory: { guest: "1Gi", maxGuest: "4Gi", ...change }, ...domain },
  });
const grows = [`Invalid ${at}.domain.memory.guest`];
const numa = { cores: 2, dedicatedCpuPlacement: true, numa: { guestMappingPassthrough: {} } };
const pages = { hugepages: { pageSize: "2Mi" } };

test.each<[Change, ClusterOptions, string[]]>([
  [memory({}), {}, []],
  [memory({ maxGuest: "512Mi" }), {}, grows],
  [memory({ guest: "1025Mi" }), {}, grows],
  [memory({ maxGuest: "4097Mi" }), {}, grows],
  [memory({ guest: "512Mi" }), {}, grows],
  [memory({ maxGuest: "1536Mi", hugepages: { pageSize: "1Gi" } }), {}, grows],
  [memory(pages, { cpu: numa }), {}, grows],
  [memory(pages, { cpu: { ...numa, realtime: {} } }), {}, grows],
  [memory({}, { machine: { type: "" } }, { architecture: "arm64" }), {}, grows],
  [memory({ maxGuest: "512Mi" }), { configuration: { vmRolloutStrategy: "Stage" } }, []],
])("room for memory %j %j: %j", (spec, options, expected) => {
  expect(verdict(vmiOf(spec), options)).toEqual(expected);
});

const dv = (spec: Change, metadata: Change = { name: "dv" }): Change => ({
  dataVolumeTemplates: [{ metadata, spec }],
  template: {
    spec: { volumes: [{ name: "root", dataVolume: { name: "dv" } }] },
  },
});
const blank = { source: { blank: {} } };
const dvt = "spec.dataVolumeTemplate[0]";

test.each<[Change, string[]]>([
  [dv({ storage: {}, ...blank }), []],
  [dv({ pvc: {}, sourceRef: { kind: "DataSource", name: "s" } }), []],
  [dv({ storage: {}, ...blank }, {}), [`Required ${dvt}.name`]],
  [dv(blank), [`Invalid ${dvt}.PVC.Storage`]],
  [dv({ pvc: {}, storage: {}, ...blank }), [`Invalid ${dvt}.PVC.Storage`]],
  [dv({ storage: { dataSource: { kind: "k", name: "n" } } }), []],
  [dv({ storage: { dataSource: { kind: "k", name: "n" } }, ...blank }), [`Invalid ${dvt}.source`]],
  [dv({ storage: {} }), [`Invalid ${dvt}.source.sourceRef`]],
  [dv({ storage: {}, source: {} }), [`Invalid ${dvt}.source`]],
  [dv({ storage: {}, source: { blank: {}, upload: {} } }), [`Invalid ${dvt}.source`]],
  [dv({ storage: {}, ...blank }, { name: "unused" }), [`Required ${dvt}`]],
  [dv({ storage: { volumeMode: "Tape" }, ...blank }), ["schema"]],
  [{ ...dv({ storage: {}, ...blank }), dataVolumeTemplates: [null] }, ["schema"]],
  [
    dv({ storage: {}, ...blank }, { name: "dv", namespace: "there" }),
    ["Invalid spec.dataVolumeTemplates[0]"],
  ],
])("volumes created with the VM %j: %j", (spec, expected) => {
  expect(verdict(vmiOf(spec))).toEqual(expected);
});

test("accepts an unchanged template in another namespace", () => {
  const foreign = dv({ storage: {}, ...blank }, { name: "dv", namespace: "there" });
  expect(
    verdict(vmiOf({ ...foreign, runStrategy: "Always" }), { oldObject: vmiOf(foreign) }),
  ).toEqual([]);
  expect(verdict(vmiOf(foreign), { oldObject: vmiOf() })).toEqual([
    "Invalid spec.dataVolumeTemplates[0]",
  ]);
});

const snapshot = { status: { snapshotInProgress: "s" } };
const restore = { status: { restoreInProgress: "r" } };
const otherVolume = template({ volumes: [{ name: "root", containerDisk: { image: "other" } }] });

test.each<[string, Change, Change, string[]]>([
  ["a label during a snapshot", { metadata: { labels: { a: "b" } } }, snapshot, []],
  ["a volume during a snapshot", { spec: otherVolume }, snapshot, ["NotSupported spec"]],
  [
    "the run strategy during a snapshot",
    { spec: { runStrategy: "Always" } },
    snapshot,
    ["NotSupported spec"],
  ],
  [
    "how it is written, during a snapshot",
    { spec: { runStrategy: undefined, running: false } },
    snapshot,
    ["NotSupported spec"],
  ],
  ["a volume during a restore", { spec: otherVolume }, restore, []],
  [
    "the run strategy during a restore",
    { spec: { runStrategy: "Always" } },
    restore,
    ["NotSupported spec"],
  ],
  [
    "how it is written, during a restore",
    { spec: { runStrategy: undefined, running: false } },
    restore,
    [],
  ],
])("changing %s: %j", (_, change, status, expected) => {
  const oldObject = vmiOf({}, status);
  expect(verdict(overlay(oldObject, change), { oldObject })).toEqual(expected);
});

const add = (rest: Change = {}): Change => ({
  addVolumeOptions: {
    name: "hp",
    disk: { name: "hp", disk: { bus: "scsi" } },
    volumeSource: { persistentVolumeClaim: { claimName: "c" } },
    ...rest,
  },
});
const remove = (name = "root"): Change => ({ removeVolumeOptions: { name } });
const requests = (...volumeRequests: Change[]): Record<string, unknown> =>
  vmiOf({}, { status: { volumeRequests, ready: true } });
const asked = ["Invalid Status.volumeRequests"];
const disk = (target: Change, rest: Change = {}): Change =>
  add({ disk: { name: "hp", ...target, ...rest } });

test.each<[string, Change[], string[]]>([
  ["in", [add()], []],
  ["in from a DataVolume", [add({ volumeSource: { dataVolume: { name: "d" } } })], []],
  ["out", [remove()], []],
  ["in and out in one request", [{ ...add(), ...remove() }], asked],
  ["nowhere", [{}], asked],
  ["in twice", [add(), add()], asked],
  ["out twice", [remove(), remove()], asked],
  ["in without a disk", [add({ disk: undefined })], ["schema"]],
  ["in on sata", [disk({ disk: { bus: "sata" } })], asked],
  ["in as a CD-ROM", [disk({ cdrom: { bus: "scsi" } })], asked],
  [
    "in with a thread on scsi",
    [disk({ disk: { bus: "scsi" } }, { dedicatedIOThread: true })],
    asked,
  ],
  [
    "in to boot at 0",
    [disk({ disk: { bus: "scsi" } }, { bootOrder: 0 })],
    ["Invalid spec.domain.devices.disks[1].bootOrder"],
  ],
  ["in under a name that is taken", [add({ name: "root" })], asked],
  ["in without a source", [add({ volumeSource: {} })], [`Invalid ${at}.volumes[1]`]],
])("plugging a volume %s", (_, all, expected) => {
  const withoutUndefined = JSON.parse(JSON.stringify(requests(...all))) as unknown;
  expect(verdict(withoutUndefined)).toEqual(expected);
});

const runs = (change: Change = {}): AdmissionLookup => ({
  ...emptyCluster,
  virtualMachineInstance: () => overlay(instance(), change) as unknown as VirtualMachineInstance,
});

test("judges the running VMI as well", () => {
  const taken = { spec: { volumes: [{ name: "hp", containerDisk: { image: "i" } }] } };
  expect(verdict(requests(add()), { lookup: runs() })).toEqual([]);
  expect(verdict(requests(add()), { lookup: runs(taken) })).toEqual(asked);
  const leaving = { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" }, ...taken };
  expect(verdict(requests(add()), { lookup: runs(leaving) })).toEqual([]);
});

test("reports volumes and disks of the running VMI that share a name", () => {
  const root = { name: "root", containerDisk: { image: "i" } };
  const twins = { spec: { volumes: [root, root] } };
  expect(verdict(requests(add()), { lookup: runs(twins) })).toEqual([
    `Invalid ${at}.volumes[1].name`,
  ]);
  const left = { spec: { domain: { devices: { disks: [{ name: "root" }, { name: "hp" }] } } } };
  expect(verdict(requests(add()), { lookup: runs(left) })).toEqual([
    `Invalid ${at}.domain.devices.disks[2].name`,
  ]);
  expect(verdict(requests(remove("hp"), add()), { lookup: runs(left) })).toEqual([]);
});

test("treats what the running VMI lacks as empty", () => {
  const nameless = { spec: { domain: { devices: { disks: [{ disk: {} }] } } } };
  expect(verdict(requests(add()), { lookup: runs(nameless) })[0]).toBe(
    `Invalid ${at}.domain.devices.disks[0].name`,
  );
});

test("plugs nothing while the VM migrates", () => {
  const migrating = (migrationState: Change): AdmissionLookup =>
    runs({ status: { migrationState } });
  const startTimestamp = "2025-12-31T23:00:00Z";
  expect(verdict(requests(add()), { lookup: migrating({ startTimestamp }) })).toEqual([
    "NotSupported spec",
  ]);
  const endTimestamp = "2025-12-31T23:30:00Z";
  expect(verdict(requests(add()), { lookup: migrating({ startTimestamp, endTimestamp }) })).toEqual(
    [],
  );
});

test("refuses an update whose old object is unreadable", () => {
  for (const oldObject of [null, 7, { spec: 7 }]) {
    expect(judge(vmiOf(), { oldObject })).toMatchObject({ allowed: false, code: 400 });
  }
});

test("a claim in the status has valid access modes", () => {
  const migrated = (accessModes: readonly string[]): unknown =>
    vmiOf(
      {},
      {
        status: {
          volumeUpdateState: {
            volumeMigrationState: {
              migratedVolumes: [{ volumeName: "a", sourcePVCInfo: { accessModes } }],
            },
          },
        },
      },
    );
  expect(verdict(migrated(["ReadWriteOnce"]))).toEqual([]);
  expect(verdict(migrated(["Never"]))).toEqual(["schema"]);
});

test("treats what a stored VM lacks as empty", () => {
  for (const oldObject of [{}, { spec: {} }, { spec: { template: { spec: {} } } }]) {
    expect(judge(vmiOf(), { oldObject })).toMatchObject({ allowed: true });
  }
});
