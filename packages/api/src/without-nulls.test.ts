import { expect, test } from "vitest";
import { VirtualMachineInstanceSchema } from "./schema/index.ts";
import { withoutNulls } from "./without-nulls.ts";

const strip = <T>(value: T): T => withoutNulls(VirtualMachineInstanceSchema, value);

test("removes null fields and keeps everything else", () => {
  const value = {
    metadata: { labels: { a: null, b: "c" }, creationTimestamp: null },
    spec: {
      hostname: null,
      subdomain: "",
      domain: { cpu: null, devices: { disks: [{ name: "a", serial: null }, null] } },
    },
    unknown: { kept: null },
  };
  const before = JSON.stringify(value);
  expect(strip(value)).toEqual({
    metadata: { labels: { b: "c" }, creationTimestamp: null },
    spec: { subdomain: "", domain: { devices: { disks: [{ name: "a" }, null] } } },
    unknown: { kept: null },
  });
  expect(JSON.stringify(value)).toBe(before);
});

test("returns a value without nulls itself", () => {
  const spec = { domain: { devices: { disks: [{ name: "a" }] } } };
  expect(strip(spec)).toBe(spec);
  expect(strip({ spec, status: null }).spec).toBe(spec);
});

test("a wrong shape is left alone", () => {
  for (const value of [null, 7, "x", [null], { spec: [null] }, { spec: { domain: 7 } }]) {
    expect(strip(value)).toEqual(value);
  }
});
