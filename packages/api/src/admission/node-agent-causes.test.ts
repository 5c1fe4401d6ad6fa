import { expect, test } from "vitest";
import {
  encodeGrant,
  type Grant,
  grantAnnotation,
  targetHolderAnnotation,
} from "../grant/index.ts";
import { names as namesOf } from "../names/index.ts";
import { migrationTransferAnnotation } from "../status/migration-transfer.ts";
import { type ComponentWrite, nodeAgentCauses } from "./node-agent-causes.ts";
import { serviceAccounts } from "./service-accounts.ts";

const names = namesOf();
const accounts = serviceAccounts("kubevirt");
const username = "system:serviceaccount:kubevirt:kubevirt-handler";
const grantKey = names.own(grantAnnotation);

function vmi(change: { status?: object; spec?: object; metadata?: object } = {}): object {
  return {
    metadata: { name: "vm", uid: "u", labels: { a: "b" }, annotations: {}, ...change.metadata },
    spec: { domain: {}, ...change.spec },
    status: { nodeName: "n1", ...change.status },
  };
}

function fieldOf(write: Partial<ComponentWrite>, node?: string): string | undefined {
  const userExtra = node ? { "authentication.kubernetes.io/node-name": [node] } : {};
  const all = { resource: "virtualmachineinstances", operation: "UPDATE", ...write } as const;
  return nodeAgentCauses({ username, userExtra, ...all }, { names, accounts })[0]?.field;
}

function withGrant(grant: Grant, status: object = {}): object {
  return vmi({ status, metadata: { annotations: { [grantKey]: encodeGrant(grant) } } });
}

function claimedBy(node: string): object {
  const holder = { podUID: "p", containerID: "c", node, machineID: "m", bootID: "b", nonce: "n" };
  return withGrant({ state: "Claimed", vmiUID: "u", epoch: 1, seq: 2, holder });
}

const granted = withGrant({ state: "Granted", vmiUID: "u", epoch: 1, seq: 1, podUID: "p" });
const ended: Grant = { state: "Ended", vmiUID: "u", epoch: 1, seq: 3 };

const running = vmi({ status: { phase: "Running" } });

test("an agent may write the status and the claim of a VMI on its node", () => {
  expect(fieldOf({ oldObject: vmi(), object: running }, "n1")).toBe(undefined);
  expect(fieldOf({ oldObject: granted, object: claimedBy("n1") }, "n1")).toBe(undefined);
  expect(fieldOf({ oldObject: claimedBy("n1"), object: withGrant(ended) }, "n1")).toBe(undefined);
});

test.each([
  ["another node's VMI", { oldObject: vmi(), object: running }, "n2", "status.nodeName"],
  ["without a node", { oldObject: vmi(), object: running }, undefined, "metadata"],
  ["the spec", { oldObject: vmi(), object: vmi({ spec: { x: 1 } }) }, "n1", "spec"],
  [
    "a finalizer",
    { oldObject: vmi({ metadata: { finalizers: ["f"] } }), object: vmi() },
    ...["n1", "metadata.finalizers"],
  ],
  [
    "another annotation",
    { oldObject: vmi(), object: vmi({ metadata: { annotations: { x: "y" } } }) },
    ...["n1", "metadata.annotations"],
  ],
  [
    "handing a VMI to another node",
    { oldObject: vmi(), object: vmi({ status: { nodeName: "n2" } }) },
    ...["n1", "status.nodeName"],
  ],
  [
    "a claim for another node",
    { oldObject: granted, object: claimedBy("n2") },
    ...["n1", `metadata.annotations[${grantKey}]`],
  ],
  [
    "the end of another node's guest, if its own node is the target of a migration",
    {
      oldObject: claimedBy("n2"),
      object: withGrant(ended, { migrationState: { targetNode: "n1" } }),
    },
    ...["n1", `metadata.annotations[${grantKey}]`],
  ],
  [
    "no grant at all",
    { oldObject: claimedBy("n1"), object: vmi() },
    ...["n1", `metadata.annotations[${grantKey}]`],
  ],
  [
    "that a VMI is on a node that is not its target",
    {
      oldObject: vmi({ metadata: { labels: { [names.labels.nodeName]: "n1" } } }),
      object: vmi({ metadata: { labels: { [names.labels.nodeName]: "n2" } } }),
    },
    ...["n1", "metadata.labels"],
  ],
  ["deleting a VMI", { operation: "DELETE", oldObject: vmi() }, "n1", "metadata"],
  ["another Node", { resource: "nodes", name: "n2" }, "n1", "metadata.name"],
] as [string, Partial<ComponentWrite>, string | undefined, string][])(
  "an agent may not write: %s",
  (_, write, node, field) => {
    expect(fieldOf(write, node)).toBe(field);
  },
);

test("an agent may write its own Node, and a VMI that is moving to it", () => {
  expect(fieldOf({ resource: "nodes", name: "n1" }, "n1")).toBe(undefined);
  const { nodeName, migrationTargetNodeName } = names.labels;
  const coming = vmi({
    metadata: { labels: { [nodeName]: "n1", [migrationTargetNodeName]: "n2" } },
    status: { migrationState: { targetNode: "n2" } },
  });
  const there = vmi({
    metadata: { labels: { [nodeName]: "n2" } },
    status: { nodeName: "n2", migrationState: { targetNode: "n2" } },
  });
  expect(fieldOf({ oldObject: coming, object: there }, "n2")).toBe(undefined);
});

test("only the target's node may say who receives a guest", () => {
  const target = { [names.own(targetHolderAnnotation)]: "x" };
  const coming = vmi({ status: { migrationState: { targetNode: "n2" } } });
  const said = vmi({
    metadata: { annotations: target },
    status: { migrationState: { targetNode: "n2" } },
  });
  expect(fieldOf({ oldObject: coming, object: said }, "n2")).toBe(undefined);
  expect(fieldOf({ oldObject: coming, object: said }, "n1")).toBe("metadata.annotations");
});

test("only the source's node may report the progress of a moving guest", () => {
  const annotations = { [names.own(migrationTransferAnnotation)]: "x" };
  const status = { migrationState: { sourceNode: "n1", targetNode: "n2" } };
  const write = { oldObject: vmi({ status }), object: vmi({ status, metadata: { annotations } }) };
  expect(fieldOf(write, "n1")).toBe(undefined);
  expect(fieldOf(write, "n2")).toBe("metadata.annotations");
  const still = { oldObject: vmi(), object: vmi({ metadata: { annotations } }) };
  expect(fieldOf(still, "n1")).toBe("metadata.annotations");
});

test("only the node that the guest moved to may clear what waited for a new launcher, and nobody may set it", () => {
  const outdated = { a: "b", [names.labels.outdatedLauncherImage]: "" };
  const status = { migrationState: { targetNode: "n2" } };
  const [before, after] = [vmi({ metadata: { labels: outdated }, status }), vmi({ status })];
  expect(fieldOf({ oldObject: before, object: after }, "n2")).toBe(undefined);
  expect(fieldOf({ oldObject: before, object: after }, "n1")).toBe("metadata.labels");
  expect(fieldOf({ oldObject: after, object: before }, "n2")).toBe("metadata.labels");
});

test("does not judge other users, and answers for any JSON value", () => {
  expect(fieldOf({ username: "alice", oldObject: vmi(), object: 7 })).toBe(undefined);
  expect(fieldOf({ oldObject: null, object: "x" }, "n1")).toBe("status.nodeName");
});
