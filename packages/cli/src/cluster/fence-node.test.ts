import {
  encodeGrant,
  encodeMemory,
  grantAnnotation,
  type Holder,
  runMemoryCondition,
} from "@virtkit/api/grant";
import { names } from "@virtkit/api/names";
import { proofsFromNode } from "@virtkit/api/proofs";
import { type KubeClient, KubeError, type KubeObject, type Patch } from "@virtkit/kube";
import { expect, test } from "vitest";
import { textIo } from "../testing/text-io.ts";
import { confirmFence, liftFence } from "./fence-node.ts";

const { own } = names();
const holder = (node: string, bootID: string): Holder => ({
  ...{ podUID: `pod-${node}`, containerID: `c-${node}`, node, machineID: `m-${node}` },
  ...{ bootID, nonce: "n" },
});

function vmi(name: string, grant: { readonly holder: Holder; readonly target?: Holder }) {
  const counted = { vmiUID: name, epoch: 1, seq: 2 };
  const { target } = grant;
  const value = target
    ? encodeGrant({ ...counted, ...grant, target, state: "HandingOver", migrationUID: "mig" })
    : encodeGrant({ ...counted, ...grant, state: "Claimed" });
  const annotations = { [own(grantAnnotation)]: value };
  return { metadata: { namespace: "ns", name, uid: name, annotations } };
}

/** A VM that remembers a VMI. */
function vm(name: string, vmiUID: string, held: Holder) {
  const runs = [{ vmiUID, pods: [{ podUID: held.podUID, seq: 1, holder: held }] }];
  const condition = { type: own(runMemoryCondition), status: "True", message: encodeMemory(runs) };
  return { metadata: { namespace: "ns", name }, status: { conditions: [condition] } };
}

const guests = {
  virtualmachineinstances: [
    vmi("web", { holder: holder("n1", "b1") }),
    vmi("moving", { holder: holder("n2", "b9"), target: holder("n1", "b1") }),
    vmi("elsewhere", { holder: holder("n2", "b9") }),
    vmi("before", { holder: holder("n1", "b0") }),
  ],
  virtualmachines: [
    vm("web", "web", holder("n1", "b1")),
    vm("db", "gone", holder("n1", "b1")),
    vm("far", "gone-too", holder("n2", "b9")),
  ],
};

interface Given {
  readonly ready?: string;
  readonly bootID?: string;
  readonly taints?: readonly object[];
  readonly objects?: Readonly<Record<string, readonly object[]>>;
}

/** A cluster with one Node, whose writes depend on its version; each read is followed by `meanwhile`. */
function clusterOf(
  { ready = "Unknown", bootID = "b1", taints, objects = guests }: Given = {},
  meanwhile: (node: KubeObject) => KubeObject = (node) => node,
) {
  let node = {
    metadata: { name: "n1", uid: "u", resourceVersion: "7" },
    spec: { ...(taints && { taints }), unschedulable: true },
    status: {
      nodeInfo: { machineID: "m-n1", bootID },
      conditions: [{ type: "Ready", status: ready, message: "Kubelet stopped\nposting" }],
    },
  } as KubeObject;
  const writes: unknown[] = [];
  const reasons: Readonly<Record<number, string>> = {
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
  };
  const status = (code: number) =>
    new KubeError("KUBE_STATUS", "no", { status: code, reason: reasons[code] ?? "" });
  const client = {
    get: async (_: unknown, { name }: { readonly name: string }) => {
      if (name !== "n1") throw status(404);
      const read = node;
      node = meanwhile(node);
      return read;
    },
    list: async ({ plural }: { readonly plural: string }) => {
      const items = objects[plural];
      if (!items) throw status(403);
      return { items, metadata: {} };
    },
    patch: async (_: unknown, __: unknown, { body }: Patch & { readonly body: KubeObject }) => {
      const { resourceVersion = node.metadata.resourceVersion } = body.metadata;
      if (resourceVersion !== node.metadata.resourceVersion) throw status(409);
      writes.push(body);
      node = { ...node, spec: { ...Object(node)["spec"], ...Object(body)["spec"] } } as KubeObject;
      return node;
    },
  } as unknown as KubeClient;
  return { client, writes, now: () => node };
}

const node = "n1";

test("without a boot it shows the boot, who waits for it and what to run, and changes nothing", async () => {
  const { client, writes } = clusterOf();
  const io = textIo();
  const wish = { client, node, cluster: ["--context", "prod"] };
  expect([await confirmFence(wish, io), writes]).toEqual([1, []]);
  const lines = io.text().split("\n");
  expect(lines.slice(0, 6)).toEqual([
    "Node n1 is not Ready: Kubelet stopped posting",
    "Its last known boot is b1.",
    "Waiting for proof that this boot is over:",
    "  VMI ns/web",
    "  VMI ns/moving",
    "  VM ns/db, because of an earlier VMI",
  ]);
  expect(io.text()).toContain("\n  virtkit fence confirm n1 --context prod --boot-id b1\n");
  expect(io.text()).not.toMatch(/elsewhere|before|far/);
});

test("with its boot, the Node is marked, and that proves the end of this boot and of no other", async () => {
  const other = { key: "example.com/other", effect: "NoSchedule" };
  const { client, now } = clusterOf({ taints: [other] });
  const io = textIo();
  expect(await confirmFence({ client, node, bootID: "b1" }, io)).toBe(0);
  const key = "node.kubernetes.io/out-of-service";
  expect(now()).toHaveProperty("spec", {
    taints: [other, { key, value: "boot-b1", effect: "NoExecute" }],
    unschedulable: true,
  });
  const fence = { kind: "fenced", machineID: "m-n1", bootID: "b1", nodeReady: false };
  expect(proofsFromNode(now())).toContainEqual(fence);
  expect(io.text()).toContain("virtkit fence lift n1");
  const back = {
    ...now(),
    status: { nodeInfo: { machineID: "m-n1", bootID: "b2" }, conditions: [] },
  };
  expect(proofsFromNode(back).filter(({ kind }) => kind === "fenced")).toEqual([fence]);
});

test("a second confirmation writes nothing, and a taint without a boot is replaced by one with it", async () => {
  const first = clusterOf();
  await confirmFence({ client: first.client, node, bootID: "b1" }, textIo());
  expect(await confirmFence({ client: first.client, node, bootID: "b1" }, textIo())).toBe(0);
  expect(first.writes).toHaveLength(1);
  const plain = { key: "node.kubernetes.io/out-of-service", value: "nodeshutdown" };
  const second = clusterOf({ taints: [{ ...plain, effect: "NoExecute" }] });
  await confirmFence({ client: second.client, node, bootID: "b1" }, textIo());
  expect(second.now()).toMatchObject({ spec: { taints: [{ value: "boot-b1" }] } });
});

test.each([
  ["does not exist", {}, { node: "n2" }, /node n2 does not exist; "kubectl get nodes"/],
  ["is Ready", { ready: "True" }, { bootID: "b1" }, /node n1 is Ready, so it is not off; switch/],
  [
    "reports that it is not ready",
    { ready: "False" },
    { bootID: "b1" },
    /its kubelet still reports/,
  ],
  ["is Ready, for a look", { ready: "True" }, {}, /node n1 is Ready/],
  ["has booted since", { bootID: "b2" }, { bootID: "b1" }, /is in boot b2, not b1/],
  ["has no boot", { bootID: "" }, { bootID: "" }, /does not report its machine ID and its boot ID/],
] as const)("a node that %s is not marked", async (_, given, wish, words) => {
  const { client, writes } = clusterOf(given);
  await expect(confirmFence({ client, node, ...wish }, textIo())).rejects.toThrow(words);
  expect(writes).toEqual([]);
});

test("a node that comes back between the look and the write is not marked", async () => {
  const { client, writes } = clusterOf({}, (each) => ({
    ...each,
    metadata: { ...each.metadata, resourceVersion: "8" },
  }));
  await expect(confirmFence({ client, node, bootID: "b1" }, textIo())).rejects.toThrow(
    "node n1 changed at the same moment, and was not marked; try again",
  );
  expect(writes).toEqual([]);
});

test("a user who may not list guests can still confirm, and learns that none could be listed", async () => {
  const { client, writes } = clusterOf({ objects: {} });
  const io = textIo();
  expect(await confirmFence({ client, node, bootID: "b1" }, io)).toBe(0);
  expect(writes).toHaveLength(1);
  expect(io.text()).toContain("virtualmachineinstances cannot be listed");
});

test("lifting removes the mark and no other taint", async () => {
  const other = { key: "example.com/other", effect: "NoSchedule" };
  const { client, now, writes } = clusterOf({ taints: [other] });
  await confirmFence({ client, node, bootID: "b1" }, textIo());
  expect(await liftFence({ client, node }, textIo())).toBe(0);
  expect(now()).toMatchObject({ spec: { taints: [other] } });
  const io = textIo();
  expect(await liftFence({ client, node }, io)).toBe(0);
  expect(io.text()).toBe("Node n1 is not marked as out of service.\n");
  expect(writes).toHaveLength(2);
});
