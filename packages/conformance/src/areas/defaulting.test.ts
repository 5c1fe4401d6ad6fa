import { expect, test } from "vitest";
import { functions } from "./defaulting.ts";

test("what is patched is written as KubeVirt writes it, with its zeros", () => {
  const template = {
    spec: {
      domain: { devices: {} },
      volumes: [{ name: "a", hostDisk: { path: "/a", type: "Disk" } }],
    },
  };
  const dataVolumeTemplates = [{ spec: { storage: {} } }];
  const object = { spec: { template, dataVolumeTemplates }, status: { created: false } };
  const input = { kind: "VirtualMachine", operation: "CREATE", object };
  expect(functions["mutate"]?.(input, {})).toMatchObject({
    object: {
      metadata: {},
      spec: {
        template: { spec: { volumes: [{ hostDisk: { capacity: "0" } }] } },
        dataVolumeTemplates: [{ metadata: {}, spec: { storage: { resources: {} } } }],
      },
      status: { created: false },
    },
  });
});

test("a request of any shape gets an answer", () => {
  for (const input of [undefined, null, 1, "x", [], {}, { kind: "VirtualMachine", object: 7 }]) {
    expect(functions["mutate"]?.(input, undefined)).toHaveProperty("allowed");
  }
});
