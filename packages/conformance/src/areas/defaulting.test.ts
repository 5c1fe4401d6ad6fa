import { expect, test } from "vitest";
import { functions } from "./defaulting.ts";

test("writes patched values as KubeVirt does, with its zeros", () => {
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

test("answers a request of any shape", () => {
  for (const input of [undefined, null, 1, "x", [], {}, { kind: "VirtualMachine", object: 7 }]) {
    expect(functions["mutate"]?.(input, undefined)).toHaveProperty("allowed");
  }
});
