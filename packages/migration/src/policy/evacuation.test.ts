import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance, VirtualMachineInstanceStatus } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { type EvacuationScene, planEvacuation } from "./evacuation.ts";

const now = Date.parse("2026-01-01T12:00:00Z");
const migratable = { type: "LiveMigratable", status: "True" };

function vmi(
  name: string,
  status: VirtualMachineInstanceStatus = {},
  parts: Partial<VirtualMachineInstance> = {},
): VirtualMachineInstance {
  return {
    metadata: { name, namespace: "ns", uid: `uid-${name}`, ...parts.metadata },
    spec: { domain: { devices: {} }, evictionStrategy: "LiveMigrate", ...parts.spec },
    status: { phase: "Running", nodeName: "n1", conditions: [migratable], ...status },
  };
}

const marked = { evacuationNodeName: "n1" };
const drained = { taints: [{ key: "kubevirt.io/drain", effect: "NoSchedule" }] };

function plan(scene: Partial<EvacuationScene>): { moved: string[]; stuck: string[] } {
  const full = { node: {}, vmis: [], migrations: [], pods: [], ...scene };
  const node = { metadata: { name: "n1" }, ...full.node };
  const { evacuations, stuck } = planEvacuation({ ...full, node }, clusterConfig(), now);
  const names = (list: readonly VirtualMachineInstance[]): string[] =>
    list.map(({ metadata }) => metadata?.name ?? "");
  return { moved: names(evacuations.map((evacuation) => evacuation.vmi)), stuck: names(stuck) };
}

test("a drained node loses all its VMIs, and another node only the marked ones", () => {
  const vmis = [vmi("a"), vmi("b", marked), vmi("c", { nodeName: "n2" })];
  expect(plan({ node: { spec: drained }, vmis }).moved).toEqual(["a", "b"]);
  expect(plan({ vmis }).moved).toEqual(["b"]);
  const other = { taints: [{ key: "kubevirt.io/drain", effect: "NoExecute" }] };
  expect(plan({ node: { spec: other }, vmis }).moved).toEqual(["b"]);
});

test.each<[string, VirtualMachineInstance]>([
  ["marked for another node", vmi("a", { evacuationNodeName: "n2" })],
  [
    "migrating",
    vmi("a", { ...marked, migrationState: { startTimestamp: "2026-01-01T11:00:00Z" } }),
  ],
  ["failed", vmi("a", { ...marked, phase: "Failed" })],
  ["succeeded", vmi("a", { ...marked, phase: "Succeeded" })],
  ["being deleted", vmi("a", marked, { metadata: { name: "a", deletionTimestamp: "x" } })],
  [
    "kept in place by its strategy",
    vmi("a", marked, { spec: { domain: { devices: {} }, evictionStrategy: "External" } }),
  ],
])("a VMI that is %s stays", (_, subject) => {
  expect(plan({ vmis: [subject] })).toEqual({ moved: [], stuck: [] });
});

test.each([
  [{ startTimestamp: "2026-01-01T11:00:00Z", endTimestamp: "2026-01-01T11:30:00Z" }],
  [{ startTimestamp: "2026-01-01T13:00:00Z" }],
])("migration state %j does not prevent an evacuation", (migrationState) => {
  expect(plan({ vmis: [vmi("a", { ...marked, migrationState })] }).moved).toEqual(["a"]);
});

test("a VMI that must move and cannot is stuck; one that moves only if possible is not", () => {
  const fixed = { ...marked, conditions: [{ type: "LiveMigratable", status: "False" }] };
  const ifPossible = { domain: { devices: {} }, evictionStrategy: "LiveMigrateIfPossible" };
  const vmis = [vmi("a", fixed), vmi("b", fixed, { spec: ifPossible })];
  expect(plan({ vmis })).toEqual({ moved: [], stuck: ["a"] });
});

test("the first of several conditions says whether a VMI can move", () => {
  const conditions = [{ ...migratable, status: "False" }, migratable];
  expect(plan({ vmis: [vmi("a", { ...marked, conditions })] })).toEqual({
    moved: [],
    stuck: ["a"],
  });
});

test("an unfinished migration of the same VMI is enough", () => {
  const migration = (namespace: string, phase?: string): object => ({
    metadata: { name: "m", namespace },
    spec: { vmiName: "a" },
    ...(phase ? { status: { phase } } : {}),
  });
  const moved = (...migrations: object[]): string[] =>
    plan({ vmis: [vmi("a", marked)], migrations: migrations as EvacuationScene["migrations"] })
      .moved;
  expect(moved(migration("ns"))).toEqual([]);
  expect(moved(migration("ns", "Failed"), migration("other"))).toEqual(["a"]);
});

test("Pods of the last migration must be gone first", () => {
  const pod = (uid: string, phase: string): EvacuationScene["pods"][number] => ({
    metadata: {
      namespace: "ns",
      ownerReferences: [{ apiVersion: "v1", kind: "V", name: "a", uid, controller: true }],
    },
    status: { phase },
  });
  const moved = (...pods: EvacuationScene["pods"]): string[] =>
    plan({ vmis: [vmi("a", marked)], pods }).moved;
  expect(moved(pod("uid-a", "Running"), pod("uid-a", "Running"))).toEqual([]);
  expect(moved(pod("uid-a", "Running"), pod("uid-a", "Failed"))).toEqual(["a"]);
  expect(moved(pod("uid-a", "Running"), pod("uid-b", "Running"))).toEqual(["a"]);
});

test.each([
  [undefined, "system-critical"],
  ["descheduler", "system-maintenance"],
])("an eviction by %s is %s", (source, priority) => {
  const annotations = source ? { "kubevirt.io/eviction-source": source } : {};
  const subject = vmi("a", marked, { metadata: { name: "a", annotations } });
  const scene = { node: { metadata: { name: "n1" } }, vmis: [subject], migrations: [], pods: [] };
  const [evacuation] = planEvacuation(scene, clusterConfig(), now).evacuations;
  expect(evacuation?.migration).toMatchObject({
    metadata: {
      generateName: "kubevirt-evacuation-",
      namespace: "ns",
      annotations: { "kubevirt.io/evacuationMigration": "n1" },
    },
    spec: { vmiName: "a", priority },
  });
});

test.each([
  [{ migrations: {} }, "migrations"],
  [{ migrations: [null] }, "migrations[0]"],
  [{ vmis: "all" }, "vmis"],
  [{ vmis: [vmi("a"), 7] }, "vmis[1]"],
  [{ pods: null }, "pods"],
  [{ pods: [{ metadata: { ownerReferences: "me" } }] }, "pods[0].metadata.ownerReferences"],
  [{ node: { spec: { taints: 7 } } }, "node.spec.taints"],
])("rejects an invalid scene and names the place: %j", (scene, path) => {
  expect(() => plan(scene as never)).toThrow(
    expect.objectContaining({ code: "MIGRATION_INPUT_INVALID", path }),
  );
});

test("Pods are scanned once, however many VMIs there are", () => {
  const count = 300;
  let reads = 0;
  const pods = Array.from({ length: count }, (_, index) => ({
    get metadata() {
      reads += 1;
      const owner = { apiVersion: "v1", kind: "V", name: "", controller: true };
      return { namespace: "ns", ownerReferences: [{ ...owner, uid: `uid-${index}` }] };
    },
  }));
  const vmis = Array.from({ length: count }, (_, index) => vmi(`${index}`, marked));
  expect(plan({ vmis, pods }).moved).toHaveLength(count);
  expect(reads).toBe(count);
});

test("a Pod in another namespace does not count", () => {
  const ownerReferences = [
    { apiVersion: "v1", kind: "V", name: "a", uid: "uid-a", controller: true },
  ];
  const pods = ["ns", "other"].map((namespace) => ({ metadata: { namespace, ownerReferences } }));
  expect(plan({ vmis: [vmi("a", marked)], pods }).moved).toEqual(["a"]);
});
