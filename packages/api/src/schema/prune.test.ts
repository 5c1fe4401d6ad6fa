import { expect, test } from "vitest";
import { type VirtualMachineInstance, VirtualMachineInstanceSchema } from "./index.ts";
import { prune } from "./prune.ts";

test("removes unknown fields at any depth", () => {
  const value = {
    surprise: 1,
    metadata: { labels: { "any/key": "b" }, surprise: {} },
    spec: { domain: { devices: { disks: [{ name: "a", surprise: [] }] } } },
  } as unknown as VirtualMachineInstance;
  expect(prune(VirtualMachineInstanceSchema, value)).toEqual({
    metadata: { labels: { "any/key": "b" } },
    spec: { domain: { devices: { disks: [{ name: "a" }] } } },
  });
});

test("a wrong shape is left alone, and no key reaches the prototype", () => {
  const value = JSON.parse('{"spec":7,"metadata":{"labels":{"__proto__":{"polluted":1}}}}');
  const copy = prune(VirtualMachineInstanceSchema, value as VirtualMachineInstance);
  expect(copy.spec).toBe(7);
  expect("polluted" in (copy.metadata?.labels ?? {})).toBe(false);
});
