import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachine } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { reasonsOf, refused, writesOf } from "../testing/vm-objects.ts";
import { planPool } from "./plan-pool.ts";
import type { PoolView, VirtualMachinePool } from "./pool-view.ts";

const config = clusterConfig();
const { finalizers, labels } = config.names;
const now = Date.parse("2026-01-01T00:00:00Z");

type Spec = VirtualMachinePool["spec"];

const template: NonNullable<Spec["virtualMachineTemplate"]> = {
  metadata: { labels: { app: "x" } },
  spec: { runStrategy: "Always", template: { spec: { domain: { devices: {} } } } },
};

function poolOf(
  spec: Partial<Spec>,
  own: readonly string[] = [finalizers.pool],
): VirtualMachinePool {
  return {
    metadata: { name: "pool", namespace: "ns", uid: "pool", generation: 1, finalizers: own },
    spec: { selector: { matchLabels: { app: "x" } }, virtualMachineTemplate: template, ...spec },
    status: { labelSelector: "app=x" },
  };
}

function member(
  index: number,
  {
    ready = true,
    owner = "pool",
    born = `2025-01-0${index + 1}T00:00:00Z`,
    status = {},
    others = [] as string[],
  } = {},
): VirtualMachine {
  return {
    metadata: {
      name: `pool-${index}`,
      namespace: "ns",
      uid: `vm-${index}`,
      creationTimestamp: born,
      labels: { app: "x", [labels.poolRevision]: "pool-1" },
      finalizers: [finalizers.pool, ...others],
      ownerReferences: [{ apiVersion: "v", kind: "k", name: "n", uid: owner, controller: true }],
    },
    spec: template.spec as VirtualMachine["spec"],
    status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }], ...status },
  };
}

const revisions: PoolView["revisions"] = [
  {
    metadata: {
      name: "pool-1",
      namespace: "ns",
      ownerReferences: [{ apiVersion: "v", kind: "k", name: "n", uid: "pool", controller: true }],
    },
    data: { virtualMachineTemplate: template },
  },
];

function plan(spec: Partial<Spec>, vms: readonly VirtualMachine[], own?: readonly string[]) {
  return planPool({ pool: poolOf(spec, own), vms, vmis: [], revisions }, config, now);
}

function deleted({ writes }: ReturnType<typeof plan>): readonly string[] {
  return writes.flatMap((write) => (write.kind === "delete" ? [write.object.name] : []));
}

test("without a policy, VMs that are not ready are deleted first, then the newest", () => {
  const vms = [member(0), member(1), member(2, { ready: false })];
  expect(deleted(plan({ replicas: 2 }, vms))).toEqual(["pool-2"]);
  expect(deleted(plan({ replicas: 1 }, vms))).toEqual(["pool-2", "pool-1"]);
});

test.each([
  ["a pass that ended right after the deletion", {}],
  ["a person", { scaleInStrategy: { opportunistic: {} } }],
])("releases a surplus VM that %s has deleted", (_, spec) => {
  const { metadata, ...going } = member(1);
  const vms = [
    member(0),
    { ...going, metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
  ];
  const [first] = plan({ replicas: 1, ...spec }, vms).writes;
  expect(first).toMatchObject({ kind: "patch", object: { name: "pool-1" } });
  expect(JSON.stringify(first)).toContain("/metadata/finalizers");
});

test("a VM whose disks have changed is replaced only once they are gone", () => {
  const disk = (storage: string) => ({
    metadata: { name: "disk" },
    spec: { source: { blank: {} }, storage: { resources: { requests: { storage } } } },
  });
  const templateWith = (storage: string) => ({
    ...template,
    spec: { ...template.spec, dataVolumeTemplates: [disk(storage)] },
  });
  const [revision] = revisions;
  const stored = (name: string, storage: string) => ({
    metadata: { ...revision?.metadata, name },
    data: { virtualMachineTemplate: templateWith(storage) },
  });
  const pool = poolOf({ replicas: 1, virtualMachineTemplate: templateWith("2Gi") as never });
  const vm = member(0);
  vm.metadata = { ...vm.metadata, labels: { app: "x", [labels.poolRevision]: "pool-2" } };
  const owner = { apiVersion: "v", kind: "VirtualMachine", name: "pool-0", uid: "vm-0" };
  const vmi = {
    metadata: {
      ...{ name: "pool-0", namespace: "ns", uid: "vmi-0" },
      labels: { [labels.poolRevision]: "pool-1" },
      ownerReferences: [{ ...owner, controller: true }],
    },
    spec: { domain: { devices: {} } },
    status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
  };
  const view = { pool, vms: [vm], vmis: [vmi as never] };
  const all = [stored("pool-1", "1Gi"), stored("pool-2", "2Gi")] as never;
  const { writes } = planPool({ ...view, revisions: all }, config, now);
  expect(writes.find(({ kind }) => kind === "delete")).toMatchObject({
    object: { name: "pool-0" },
    uid: "vm-0",
    propagationPolicy: "Foreground",
  });
});

test("autohealing deletes own VMs that fail to start, and nobody else's", () => {
  const status = { startFailure: { consecutiveFailCount: 3 } };
  const own = member(0, { status });
  const foreign = member(1, { owner: "other", status });
  expect(deleted(plan({ replicas: 1, autohealing: {} }, [own, foreign]))).toEqual(["pool-0"]);
});

test("a paused pool does not heal: it would not replace what it deletes", () => {
  const failing = member(0, { status: { startFailure: { consecutiveFailCount: 3 } } });
  const spec = { replicas: 1, autohealing: {} };
  expect(deleted(plan({ ...spec, paused: true }, [failing]))).toEqual([]);
  expect(deleted(plan(spec, [failing]))).toEqual(["pool-0"]);
});

test("a pool that is being deleted does not heal: whoever keeps its VMs keeps those that fail, too", () => {
  const failing = member(0, { status: { startFailure: { consecutiveFailCount: 3 } } });
  const pool = poolOf({ replicas: 1, autohealing: {} });
  const going = {
    ...pool,
    metadata: {
      ...pool.metadata,
      finalizers: [...(pool.metadata.finalizers ?? []), "orphan"],
      deletionTimestamp: "2026-01-01T00:00:00Z",
    },
  };
  const released = planPool({ pool: going, vms: [failing], vmis: [], revisions }, config, now);
  expect(deleted(released)).toEqual([]);
  expect(writesOf(released)).toContain("patch virtualmachines");
});

test("a VM that has to fail for longer is looked at again then, although nothing may change until then", () => {
  const failingFor = (seconds: number) => {
    const lastProbeTime = new Date(now - seconds * 1000).toISOString();
    const conditions = [{ type: "Ready", status: "False", lastProbeTime }];
    return member(1, { status: { printableStatus: "ImagePullBackOff", conditions } });
  };
  const autohealing = { minFailingToStartDuration: "2m" };
  const spec = { replicas: 2, updateStrategy: { unmanaged: {} }, autohealing };
  const early = plan(spec, [member(0), failingFor(80)]);
  expect([deleted(early), early.requeueAfterSeconds]).toEqual([[], 40]);
  expect(deleted(plan(spec, [member(0), failingFor(120)]))).toEqual(["pool-1"]);
  const settled = plan(spec, [member(0), member(1)]);
  expect(settled.requeueAfterSeconds).toBeUndefined();
});

test.each([
  ["surplus", "proactive", 1, true],
  ["surplus", "opportunistic", 1, true],
  ["replaced", "proactive", 2, false],
  ["replaced", "opportunistic", 2, true],
])(
  "a %s VM that somebody has deleted: with %s preservation and %i replicas, its volumes stay: %s",
  (_, strategy, replicas, stay) => {
    const { metadata, ...rest } = member(1);
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    const disk = { name: "disk", persistentVolumeClaim: { claimName: "disk-1" } };
    const spec = {
      ...template.spec,
      template: { spec: { domain: { devices: {} }, volumes: [disk] } },
    };
    const going = { ...rest, spec, metadata: { ...metadata, deletionTimestamp } } as VirtualMachine;
    const ownerReferences = [
      { apiVersion: "v", kind: "k", name: "n", uid: "vm-1", controller: true },
    ];
    const claims = [{ metadata: { namespace: "ns", name: "disk-1", ownerReferences } }];
    const scaleInStrategy = { [strategy]: { statePreservation: "Offline" } };
    const pool = poolOf({ replicas, scaleInStrategy });
    const vms = [member(0), going];
    const { writes } = planPool({ pool, vms, vmis: [], revisions, claims }, config, now);
    const touched = writes.map((write) => write.kind === "patch" && write.object.name);
    expect(touched.filter((name) => name === "disk-1")).toHaveLength(stay ? 1 : 0);
    expect(touched).toContain("pool-1");
  },
);

test("autohealing keeps a VM while it is unknown for how long it has failed", () => {
  const vms = [member(0, { ready: false, status: { printableStatus: "CrashLoopBackOff" } })];
  expect(deleted(plan({ replicas: 1, autohealing: {} }, vms))).toEqual([]);
});

test("keeps other finalizers when it adds the pool's", () => {
  const { writes } = plan({ replicas: 0 }, [], ["example.com/keep"]);
  expect(writes[0]).toMatchObject({
    operations: expect.arrayContaining([
      {
        op: "replace",
        path: "/metadata/finalizers",
        value: ["example.com/keep", finalizers.pool],
      },
    ]),
  });
});

test("does not compare the status with the version that was read once this pass has written the pool", () => {
  const pool = poolOf({ replicas: 0 }, []);
  const read = { ...pool, metadata: { ...pool.metadata, resourceVersion: "7" }, status: {} };
  const guards = (own: typeof read): number =>
    planPool({ pool: own, vms: [], vmis: [], revisions: [] }, config, now)
      .writes.flatMap((write) => (write.kind === "patch" ? write.operations : []))
      .filter(({ path }) => path === "/metadata/resourceVersion").length;
  expect(guards(read)).toBe(0);
  const protectedPool = { ...read, metadata: { ...read.metadata, finalizers: [finalizers.pool] } };
  expect(guards(protectedPool)).toBe(1);
});

test("releases a VM that is no longer selected and keeps its other finalizers", () => {
  const vm = member(0, { others: ["example.com/keep"] });
  const renamed = { ...vm, metadata: { ...vm.metadata, labels: { app: "y" } } };
  const { writes } = plan({ replicas: 0 }, [renamed]);
  expect(writes[0]).toMatchObject({
    operations: expect.arrayContaining([
      { op: "remove", path: "/metadata/ownerReferences" },
      { op: "replace", path: "/metadata/finalizers", value: ["example.com/keep"] },
    ]),
  });
});

test("reports selectors that allow too few deletions, and deletes those few", () => {
  const selectors = { labelSelector: { matchLabels: { tier: "low" } } };
  const scaleInStrategy = { proactive: { selectionPolicy: { selectors } } };
  const result = plan({ replicas: 0, scaleInStrategy }, [member(0), member(1)]);
  expect(deleted(result)).toEqual([]);
  expect(result.error).toMatchObject({ reason: "FailedScaleIn" });
  expect(result.error?.message).toContain("selectors");
});

test("detaches volumes that are to be kept before it deletes the VM", () => {
  const scaleInStrategy = { proactive: { statePreservation: "Offline" } };
  const vm = member(0);
  const volumes = [{ name: "d", dataVolume: { name: "data-0" } }];
  const spec = { template: { spec: { domain: { devices: {} }, volumes } } };
  const dataVolumes = [
    {
      metadata: {
        name: "data-0",
        namespace: "ns",
        ownerReferences: [{ apiVersion: "v", kind: "k", name: "n", uid: "vm-0", controller: true }],
      },
    },
  ];
  const pool = poolOf({ replicas: 0, scaleInStrategy });
  const view: PoolView = { pool, vms: [{ ...vm, spec }], vmis: [], dataVolumes, revisions };
  const kept = planPool(view, config, now);
  expect(writesOf(kept).slice(0, 3)).toEqual([
    "patch datavolumes",
    "delete virtualmachines",
    "patch virtualmachines",
  ]);
  expect(deleted(planPool(view, config, now, [refused("Conflict")]))).toEqual([]);
});

test("gives VMs the lowest free numbers, and continues after a refusal", () => {
  const pool = poolOf({ replicas: 3 });
  const view: PoolView = { pool, vms: [member(1)], vmis: [], revisions };
  const names = planPool(view, config, now).writes.flatMap((write) =>
    write.kind === "create" ? [write.object.metadata.name] : [],
  );
  expect(names).toEqual(["pool-0", "pool-2"]);
  const short = planPool(view, config, now, [refused("Forbidden")]);
  expect(reasonsOf(short)).toEqual(["SuccessfulCreate", "FailedCreate", "FailedScaleOut"]);
  expect(short.error).toMatchObject({ kind: "sync", reason: "FailedScaleOut" });
});
