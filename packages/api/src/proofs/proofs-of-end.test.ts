import { expect, test } from "vitest";
import { fenceTaint } from "./fence-taint.ts";
import { launcherContainers, proofsFromNode, proofsFromPod } from "./proofs-of-end.ts";

function node(parts: { readonly taints?: readonly object[]; readonly ready?: string }) {
  return {
    metadata: { name: "n1" },
    spec: { taints: parts.taints },
    status: {
      nodeInfo: { machineID: "m1", bootID: "b2" },
      conditions: [{ type: "Ready", status: parts.ready ?? "True" }],
    },
  };
}

const boot = { kind: "bootChanged", machineID: "m1", bootID: "b2" };

test("a node reports its present boot", () => {
  expect(proofsFromNode(node({}))).toEqual([boot]);
});

test("the out-of-service taint applies to the present boot, and says whether the Node is Ready", () => {
  const taints = [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }];
  const fenced = { kind: "fenced", machineID: "m1", bootID: "b2" };
  expect(proofsFromNode(node({ taints }))).toEqual([boot, { ...fenced, nodeReady: true }]);
  expect(proofsFromNode(node({ taints, ready: "Unknown" }))).toEqual([
    boot,
    { ...fenced, nodeReady: false },
  ]);
});

test("a taint that names a boot proves nothing about any other, whatever the present one is", () => {
  const named = (bootID: string) =>
    proofsFromNode(node({ taints: [fenceTaint(bootID)], ready: "False" }));
  const fenced = { kind: "fenced", machineID: "m1", nodeReady: false };
  expect(named("b1")).toEqual([boot, { ...fenced, bootID: "b1" }]);
  expect(named("b2")).toEqual([boot, { ...fenced, bootID: "b2" }]);
});

test.each([
  ["is gone", undefined],
  ["does not report its machine ID", { status: { nodeInfo: { bootID: "b2" } } }],
])("a node that %s proves nothing", (_, given) => {
  expect(proofsFromNode(given)).toEqual([]);
});

test("a Pod proves the end of its launcher's containers, and no others; its phase proves nothing", () => {
  const terminated = (containerID: string) => ({ containerID, reason: "Error", exitCode: 1 });
  const pod = {
    status: {
      phase: "Failed",
      containerStatuses: [
        { name: "sidecar", containerID: "s", state: { terminated: terminated("s") } },
        {
          name: "compute",
          containerID: "c2",
          state: { running: {} },
          lastState: { terminated: terminated("c1") },
        },
      ],
    },
  };
  expect(proofsFromPod(pod)).toEqual([
    { kind: "containerTerminated", containerID: "c1", reason: "Error" },
  ]);
  expect(launcherContainers(pod)).toEqual(["c2", "c1"]);
  expect(proofsFromPod({ status: { phase: "Failed" } })).toEqual([]);
});

test("an end that names no container proves nothing: the status names the one that runs now", () => {
  const nameless = { terminated: { reason: "Error", exitCode: 1 } };
  for (const states of [{ lastState: nameless, state: { running: {} } }, { state: nameless }]) {
    const status = { name: "compute", containerID: "c2", ...states };
    expect(proofsFromPod({ status: { containerStatuses: [status] } })).toEqual([]);
  }
});
