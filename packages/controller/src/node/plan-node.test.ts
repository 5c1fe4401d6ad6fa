import { names } from "@virtkit/api/names";
import { expect, test } from "vitest";
import type { NodeView } from "./node-view.ts";
import { planNode } from "./plan-node.ts";

const { annotations, labels, nodeLabels } = names();
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

test("a VMI fails only if it is still in the phase that was seen", () => {
  const [, write] = planNode(view("2025-12-31T23:00:00Z"), {}, now).writes;
  expect(write).toMatchObject({
    operations: [{ op: "test", path: "/status/phase", value: "Running" }, {}, {}],
  });
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
