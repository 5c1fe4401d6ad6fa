import { expect, test } from "vitest";
import { sampleVmi } from "../testing/sample-pod.ts";
import { networkChanges } from "./network-changes.ts";

const pod = { name: "default", masquerade: {} };

test("the same networks need nothing, whatever the order of their fields", () => {
  const one = sampleVmi([{ name: "a", model: "virtio", bridge: {} }]);
  const two = sampleVmi([{ bridge: {}, model: "virtio", name: "a" }]);
  expect(networkChanges(one, two)).toEqual([]);
});

test("lists removals before additions, and link states last", () => {
  const from = sampleVmi([pod, { name: "a", bridge: {} }, { name: "b", bridge: {} }]);
  const to = sampleVmi([
    pod,
    { name: "b", bridge: {}, state: "down" },
    { name: "a", bridge: {}, state: "absent" },
    { name: "c", bridge: {} },
    { name: "d", sriov: {} },
  ]);
  expect(networkChanges(from, to)).toEqual([
    { kind: "unplug", network: "a" },
    { kind: "plug", network: "c" },
    { kind: "migrate", network: "d" },
    { kind: "linkState", network: "b", state: "down" },
  ]);
});

test("a changed definition needs a migration, a changed MAC a restart", () => {
  const from = sampleVmi([pod, { name: "a", bridge: {} }]);
  const networks = [
    { name: "default", pod: {} },
    { name: "a", multus: { networkName: "other" } },
  ];
  const to = sampleVmi([pod, { name: "a", bridge: {}, macAddress: "02:00:00:00:00:01" }], networks);
  expect(networkChanges(from, to)).toEqual([
    { kind: "restart", network: "a", field: "interfaces.a" },
    { kind: "migrate", network: "a" },
  ]);
});
