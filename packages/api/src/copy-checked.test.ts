import { expect, test } from "vitest";
import { copyChecked } from "./copy-checked.ts";
import { type VirtualMachineInstance, VirtualMachineInstanceSchema } from "./schema/index.ts";

test("copies what the schema knows, and shares the rest", () => {
  const unknown = { a: 1 };
  const value = {
    metadata: { labels: { a: "b" } },
    spec: { domain: { devices: { disks: [{ name: "a" }] } }, unknown },
  } as VirtualMachineInstance;
  const copy = copyChecked(VirtualMachineInstanceSchema, value);
  expect(copy).toEqual(value);
  expect(copy.metadata?.labels).not.toBe(value.metadata?.labels);
  expect(copy.spec.domain.devices.disks?.[0]).not.toBe(value.spec.domain.devices.disks?.[0]);
  expect((copy.spec as unknown as { unknown: unknown }).unknown).toBe(unknown);
});

test("no key reaches the prototype", () => {
  const value = JSON.parse('{"spec":{"__proto__":{"polluted":1}}}') as VirtualMachineInstance;
  const copy = copyChecked(VirtualMachineInstanceSchema, value);
  expect("polluted" in copy.spec).toBe(false);
});
