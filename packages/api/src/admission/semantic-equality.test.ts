import { expect, test } from "vitest";
import {
  type VirtualMachineInstanceSpec,
  VirtualMachineInstanceSpecSchema,
} from "../schema/index.ts";
import { type Change, instance, overlay } from "../testing/verdict.ts";
import { semanticallyEqual } from "./semantic-equality.ts";

const same = (change: Change, other: Change = {}): boolean => {
  const spec = instance()["spec"];
  return semanticallyEqual(
    VirtualMachineInstanceSpecSchema,
    overlay(spec, change) as unknown as VirtualMachineInstanceSpec,
    overlay(spec, other) as unknown as VirtualMachineInstanceSpec,
  );
};

test.each<[Change, Change]>([
  [{}, {}],
  [{ nodeSelector: {} }, {}],
  [{ tolerations: [] }, {}],
  [{ hostname: "" }, {}],
  [{ domain: { cpu: { cores: 0 } } }, { domain: { cpu: {} } }],
  [{ domain: { memory: { guest: "1024Mi" } } }, {}],
  [{ domain: { memory: { guest: 1073741824 } } }, {}],
  [
    { domain: { resources: { requests: { cpu: "1" } } } },
    { domain: { resources: { requests: { cpu: "1000m" } } } },
  ],
  [
    { domain: { resources: { limits: { "hugepages-2Mi": "1Gi" } } } },
    { domain: { resources: { limits: { "hugepages-2Mi": "1073741824" } } } },
  ],
  [{ domain: { resources: {} } }, { domain: { resources: undefined } }],
  [{ domain: { features: { acpi: {} } } }, { domain: { features: {} } }],
  [
    { volumes: [{ name: "a", hostDisk: { path: "/", type: "Disk", capacity: "0" } }] },
    { volumes: [{ name: "a", hostDisk: { path: "/", type: "Disk" } }] },
  ],
])("%j says the same as %j", (a, b) => {
  expect(same(a, b)).toBe(true);
  expect(same(b, a)).toBe(true);
});

test.each<[Change, Change]>([
  [{ hostname: "a" }, {}],
  [{ domain: { cpu: {} } }, {}],
  [{ domain: { devices: { autoattachPodInterface: false } } }, {}],
  [{ volumes: [] }, {}],
  [{ domain: { memory: { guest: "2Gi" } } }, {}],
  [{ nodeSelector: { a: "1" } }, { nodeSelector: { a: "1.0" } }],
  [{ nodeSelector: { memory: "1" } }, { nodeSelector: { memory: "1.0" } }],
  [{ domain: { firmware: { acpi: {} } } }, { domain: { firmware: {} } }],
])("%j does not say the same as %j", (a, b) => {
  expect(same(a, b)).toBe(false);
  expect(same(b, a)).toBe(false);
});
