import { expect, test } from "vitest";
import { names as namesOf } from "../names/index.ts";
import {
  fencedBootAnnotation,
  launcherContainers,
  proofsFromNode,
  proofsFromPod,
} from "./proofs-of-end.ts";

const names = namesOf();

function node(parts: {
  readonly annotations?: object;
  readonly taints?: object[];
  readonly ready?: string;
}) {
  return {
    metadata: { name: "n1", annotations: parts.annotations },
    spec: { taints: parts.taints },
    status: {
      nodeInfo: { machineID: "m1", bootID: "b2" },
      conditions: [{ type: "Ready", status: parts.ready ?? "True" }],
    },
  };
}

const boot = { kind: "bootChanged", machineID: "m1", bootID: "b2" };

test("a node tells the boot that it is in", () => {
  expect(proofsFromNode(node({}), names)).toEqual([boot]);
});

test("the out-of-service taint speaks of the present boot, and says whether the Node is Ready", () => {
  const taints = [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }];
  const fenced = { kind: "fenced", machineID: "m1", bootID: "b2", by: "taint" };
  expect(proofsFromNode(node({ taints }), names)).toEqual([boot, { ...fenced, nodeReady: true }]);
  expect(proofsFromNode(node({ taints, ready: "Unknown" }), names)).toEqual([
    boot,
    { ...fenced, nodeReady: false },
  ]);
});

test("a person confirms the end of one boot, not of those that follow", () => {
  const annotations = { [names.own(fencedBootAnnotation)]: "b1" };
  expect(proofsFromNode(node({ annotations }), names)).toContainEqual(
    expect.objectContaining({ kind: "fenced", by: "confirmed", bootID: "b1" }),
  );
});

test.each([
  ["is gone", undefined],
  ["does not tell its machine", { status: { nodeInfo: { bootID: "b2" } } }],
])("a node that %s proves nothing", (_, given) => {
  expect(proofsFromNode(given, names)).toEqual([]);
});

test("a Pod proves the end of its launcher's containers, and of no other; its phase proves nothing", () => {
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
