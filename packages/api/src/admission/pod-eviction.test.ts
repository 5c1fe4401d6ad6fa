import { expect, test } from "vitest";
import type { VirtualMachineInstance } from "../schema/index.ts";
import { type Change, cluster, instance, overlay } from "../testing/verdict.ts";
import { admitPodEviction, type EvictedPod, evictionDecision } from "./pod-eviction.ts";

const launcher = (change: Change = {}): EvictedPod =>
  overlay(
    {
      metadata: {
        labels: { "kubevirt.io": "virt-launcher" },
        annotations: { "kubevirt.io/domain": "vm" },
      },
      spec: { nodeName: "node1" },
      status: { phase: "Running" },
    },
    change,
  );

const vmiOf = (strategy: string | undefined, migratable: boolean, change: Change = {}) => {
  const status = migratable ? "True" : "False";
  const conditions = [{ type: "LiveMigratable", status }];
  const base = instance(
    { evictionStrategy: strategy },
    { status: { nodeName: "node1", conditions } },
  );
  return overlay(base, change) as unknown as VirtualMachineInstance;
};

function evict(
  pods: Readonly<Record<string, EvictedPod>>,
  vmi?: VirtualMachineInstance,
  request: Change = {},
) {
  return admitPodEviction({ namespace: "here", name: "pod", ...request }, cluster(), {
    pod: (namespace, name) => (namespace === "here" ? pods[name] : undefined),
    virtualMachineInstance: (_, name) => (name === "vm" ? vmi : undefined),
  });
}

const mark = { op: "add", path: "/status/evacuationNodeName", value: "node1" };

test.each([5, "True", [null, 5], { type: "LiveMigratable", status: "True" }])(
  "a VMI with conditions of the shape %j is not migratable",
  (conditions) => {
    const vmi = vmiOf("LiveMigrateIfPossible", true, { status: { conditions } });
    expect(evictionDecision(vmi, cluster())).toMatchObject({ isMigratable: false });
    expect(evict({ pod: launcher() }, vmi).response.allowed).toBe(true);
  },
);

test.each<[string | undefined, boolean, "goes" | "stays" | "moves"]>([
  ["LiveMigrate", true, "moves"],
  ["LiveMigrate", false, "stays"],
  ["LiveMigrateIfPossible", true, "moves"],
  ["LiveMigrateIfPossible", false, "goes"],
  ["External", false, "moves"],
  ["None", true, "goes"],
  [undefined, true, "goes"],
])("strategy %s, migratable %s: the VMI %s", (strategy, migratable, outcome) => {
  const { response, patch } = evict({ pod: launcher() }, vmiOf(strategy, migratable));
  expect(response.allowed).toBe(outcome === "goes");
  if (!response.allowed) expect(response.code).toBe(429);
  expect(patch?.operations).toEqual(outcome === "moves" ? [mark] : undefined);
});

const unshared = "the claim of volume data is not shared; it must be ReadWriteMany";

test.each<[unknown, string]>([
  [[{ reason: "DisksNotLiveMigratable", message: unshared }], `cannot be migrated: ${unshared}; `],
  [[{ reason: "DisksNotLiveMigratable" }], "cannot be migrated: DisksNotLiveMigratable; "],
  [[{ message: 7, reason: {} }], "its node has not confirmed yet that it can be"],
  [[{ message: "x".repeat(9_000) }], `: ${"x".repeat(500)}; stop it`],
  [[], "its node has not confirmed yet that it can be"],
])("keeps a VMI that must move but cannot, with the reason: %j", (found, reason) => {
  const conditions = (found as object[]).map((each) => ({
    ...{ type: "LiveMigratable", status: "False" },
    ...each,
  }));
  const vmi = vmiOf("LiveMigrate", false, { status: { conditions } });
  const { response } = evict({ pod: launcher() }, vmi);
  expect(response).toMatchObject({ allowed: false, code: 429 });
  expect(response).toHaveProperty("message", expect.stringContaining(reason));
});

test.each<[string, Readonly<Record<string, EvictedPod>>]>([
  ["that does not exist", {}],
  ["of something else", { pod: { metadata: { labels: { app: "x" } } } }],
  ["that has ended", { pod: launcher({ status: { phase: "Failed" } }) }],
  ["that does not name a VMI", { pod: launcher({ metadata: { annotations: undefined } }) }],
])("evicts a Pod %s", (_, pods) => {
  expect(evict(pods, vmiOf("LiveMigrate", true)).response.allowed).toBe(true);
});

test("keeps a launcher Pod whose VMI was not found", () => {
  expect(evict({ pod: launcher() }).response.allowed).toBe(false);
});

test("leaves alone a VMI that is already leaving, and a Pod that it moves to", () => {
  const leaving = vmiOf("LiveMigrate", true, { status: { evacuationNodeName: "node1" } });
  expect(evict({ pod: launcher() }, leaving)).not.toHaveProperty("patch");
  const target = launcher({ spec: { nodeName: "node2" } });
  const answer = evict({ pod: target }, vmiOf("LiveMigrate", true));
  expect(answer.response.allowed).toBe(false);
  expect(answer).not.toHaveProperty("patch");
});

test.each<[Change, boolean]>([
  [{ dryRun: true }, true],
  [{ object: { deleteOptions: { dryRun: ["All"] } } }, true],
  [{ object: { deleteOptions: { dryRun: [] } } }, false],
  [{ object: { deleteOptions: 7, metadata: null } }, false],
])("request %j is a dry run: %s", (request, dryRun) => {
  expect(evict({ pod: launcher() }, vmiOf("LiveMigrate", true), request).patch?.dryRun).toBe(
    dryRun,
  );
});

test("names the descheduler as the requester", () => {
  const object = { metadata: { annotations: { "requested-by": "sigs.k8s.io/descheduler" } } };
  const operations = (annotations?: Change) =>
    evict(
      { pod: launcher() },
      vmiOf("LiveMigrate", true, annotations ? { metadata: { annotations } } : {}),
      { object },
    ).patch?.operations;
  expect(operations()).toEqual([
    mark,
    {
      op: "add",
      path: "/metadata/annotations",
      value: { "kubevirt.io/eviction-source": "descheduler" },
    },
  ]);
  expect(operations({ a: "b" })).toEqual([
    mark,
    {
      op: "replace",
      path: "/metadata/annotations/kubevirt.io~1eviction-source",
      value: "descheduler",
    },
  ]);
});

const hotplug: EvictedPod = {
  metadata: { labels: { "kubevirt.io": "hotplug-disk" }, ownerReferences: [{ name: "owner" }] },
};

test.each<[string, Readonly<Record<string, EvictedPod>>, boolean]>([
  ["serves a running VMI", { pod: hotplug, owner: launcher() }, false],
  ["has lost its owner", { pod: hotplug }, true],
  [
    "has an owner that has ended",
    { pod: hotplug, owner: launcher({ status: { phase: "Succeeded" } }) },
    true,
  ],
  ["has an owner that is not a launcher", { pod: hotplug, owner: {} }, true],
  [
    "has an owner without a VMI",
    {
      pod: hotplug,
      owner: launcher({ metadata: { annotations: { "kubevirt.io/domain": "gone" } } }),
    },
    true,
  ],
])("a Pod that holds volumes and %s may be evicted: %j", (_, pods, allowed) => {
  expect(evict(pods, vmiOf("None", true)).response.allowed).toBe(allowed);
});

test("the decision names the effective strategy", () => {
  const config = cluster({ configuration: { evictionStrategy: "LiveMigrate" } });
  expect(evictionDecision(vmiOf(undefined, false), config)).toEqual({
    strategy: "LiveMigrate",
    isMigratable: false,
    migratableOnEviction: true,
  });
  expect(evictionDecision(vmiOf("None", true), config)).toMatchObject({
    migratableOnEviction: false,
  });
  expect(evictionDecision(vmiOf("LiveMigrateIfPossible", false), config).migratableOnEviction).toBe(
    false,
  );
});
