import { expect, test } from "vitest";
import { hostModelSelector } from "./host-model-selector.ts";

const node = {
  "host-model-cpu.node.kubevirt.io/Skylake": "true",
  "host-model-required-features.node.kubevirt.io/vmx": "true",
  "cpu-feature.node.kubevirt.io/other": "true",
};

test("on its first migration a guest needs the model and features of its node", () => {
  expect(hostModelSelector(node, { "kubevirt.io/schedulable": "true" })).toEqual({
    "cpu-model-migration.node.kubevirt.io/Skylake": "true",
    "cpu-feature.node.kubevirt.io/vmx": "true",
  });
});

test("later it needs what it needed first, wherever it is now", () => {
  const remembered = {
    "cpu-model-migration.node.kubevirt.io/Haswell": "true",
    "cpu-feature.node.kubevirt.io/aes": "true",
  };
  expect(hostModelSelector(node, { ...remembered, zone: "a" })).toEqual(remembered);
});

test("refuses a node without the label", () => {
  expect(() => hostModelSelector({}, {})).toThrow(
    expect.objectContaining({ code: "LAUNCHER_POD_SOURCE_INVALID" }),
  );
});
