import { encodeGrant, type Grant, grantAnnotation } from "@virtkit/api/grant";
import { names } from "@virtkit/api/names";
import { expect, test } from "vitest";
import type { NodeView } from "./node-view.ts";
import { planNode } from "./plan-node.ts";

const { annotations, labels, nodeLabels, own } = names();
const now = Date.parse("2026-01-01T00:00:00Z");

function view(heartbeat: string | undefined, parts: Partial<NodeView> = {}): NodeView {
  return {
    name: "n1",
    node: {
      kind: "Node",
      metadata: {
        name: "n1",
        labels: { [nodeLabels.schedulable]: "true" },
        annotations: heartbeat ? { [annotations.heartbeat]: heartbeat } : {},
      },
    },
    vmis: [
      {
        metadata: { namespace: "ns", name: "vm", uid: "u1", labels: { [labels.nodeName]: "n1" } },
        spec: { domain: { devices: {} } },
        status: { phase: "Running" },
      },
    ],
    pods: [{ metadata: { name: "agent", labels: { [labels.app]: "virt-handler" } } }],
    daemonSets: [],
    ...parts,
  };
}

const launcher = (uid: string, controller = true) => ({
  metadata: {
    namespace: "ns",
    name: "launcher",
    labels: { [labels.createdBy]: "u1" },
    ownerReferences: [
      { apiVersion: "v1", kind: "VirtualMachineInstance", name: "vm", uid, controller },
    ],
  },
  status: { phase: "Running" },
});

const written = (given: NodeView, config = {}) =>
  planNode(given, config, now).writes.map(({ kind, resource }) => `${kind} ${resource.plural}`);

test("a node that never had a heartbeat counts as unresponsive, unless it is trusted", () => {
  const all = ["patch nodes", "patch virtualmachineinstances"];
  expect(written(view(undefined))).toEqual(all);
  expect(written(view(undefined), { trustSilentNodes: true })).toEqual([]);
});

test("a node with a fresh heartbeat is left alone and looked at again", () => {
  const plan = planNode(view("2025-12-31T23:59:00Z"), {}, now);
  expect(plan).toEqual({ writes: [], events: [], requeueAfterSeconds: 60 });
});

test("a VMI with a living Pod does not fail; a Pod that merely carries the labels is not its Pod", () => {
  const old = "2025-12-31T23:00:00Z";
  const [agent] = view(old).pods;
  const withPod = (uid: string, controller?: boolean) =>
    written(view(old, { pods: [...(agent ? [agent] : []), launcher(uid, controller)] }));
  expect(withPod("u1")).toEqual(["patch nodes"]);
  expect(withPod("u2")).toEqual(["patch nodes", "patch virtualmachineinstances"]);
  expect(withPod("u1", false)).toEqual(["patch nodes", "patch virtualmachineinstances"]);
});

test("a VMI fails only if nobody has changed or replaced it since it was listed", () => {
  const given = view("2025-12-31T23:00:00Z");
  const [vmi] = given.vmis;
  const metadata = { ...vmi?.metadata, resourceVersion: "7" };
  const [, write] = planNode({ ...given, vmis: [{ ...vmi, metadata } as never] }, {}, now).writes;
  expect(write).toMatchObject({
    operations: [
      { op: "test", path: "/metadata/uid", value: "u1" },
      { op: "test", path: "/metadata/resourceVersion", value: "7" },
      { op: "test", path: "/status/phase", value: "Running" },
      {},
      {},
    ],
  });
});

const holderOn = (node: string) => ({
  ...{ podUID: `pod-${node}`, containerID: `containerd://${node}`, node },
  ...{ machineID: `machine-${node}`, bootID: `boot-${node}`, nonce: `nonce-${node}` },
});
const counted = { vmiUID: "u1", epoch: 1, seq: 3 };
const moving = { holder: holderOn("n1"), target: holderOn("n2"), migrationUID: "m1" };

test.each<[string, boolean, Grant]>([
  ["claimed here", true, { state: "Claimed", ...counted, holder: holderOn("n1") }],
  ["claimed on another node", false, { state: "Claimed", ...counted, holder: holderOn("n2") }],
  ["being handed over", false, { state: "HandingOver", ...counted, ...moving }],
  ["released to another node", false, { state: "Released", ...counted, ...moving }],
  ["committed to another node", false, { state: "Committed", ...counted, ...moving }],
])("a guest that is %s fails with its node: %s", (_, fails, grant) => {
  const given = view("2025-12-31T23:00:00Z");
  const [vmi] = given.vmis;
  const metadata = {
    ...vmi?.metadata,
    annotations: { [own(grantAnnotation)]: encodeGrant(grant) },
  };
  // Garbage collection reports the Pods of a dead node as failed.
  const source = { ...launcher("u1"), status: { phase: "Failed" } };
  const pods = [...given.pods, source];
  const writes = written({ ...given, vmis: [{ ...vmi, metadata } as never], pods });
  expect(writes.includes("patch virtualmachineinstances")).toBe(fails);
});

test("if one VMI cannot be failed, the others still are, and the pass is repeated", () => {
  const given = view("2025-12-31T23:00:00Z");
  const [vmi] = given.vmis;
  const other = { ...vmi, metadata: { namespace: "ns", name: "other", uid: "u2" } };
  const done = { kind: "done" } as const;
  const refused = { kind: "refused", refusal: { reason: "Conflict", message: "no" } } as const;
  const both = { ...given, vmis: [...given.vmis, other as NonNullable<typeof vmi>] };
  const plan = planNode(both, {}, now, [done, refused]);
  expect(plan.writes).toHaveLength(3);
  expect(plan.error).toMatchObject({ kind: "other" });
  expect(plan.requeueAfterSeconds).toBeUndefined();
});
