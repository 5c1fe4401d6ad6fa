import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { inOneShape } from "./one-shape.ts";
import { smallVmi } from "./testing/conversion.ts";
import { representativeVmis } from "./testing/representative-vmis.ts";

describe("inOneShape", () => {
  test.each(representativeVmis)("says the same and changes nothing: $name", ({ vmi }) => {
    const before = structuredClone(vmi);
    // `toEqual` takes what is `undefined` for what is not there.
    expect(inOneShape(vmi)).toEqual(before);
    expect(vmi).toStrictEqual(before);
  });

  test("makes objects of the same properties in the same order", () => {
    const shapes = representativeVmis.map(({ vmi }) => {
      const { spec } = inOneShape(vmi);
      const { domain } = spec;
      const disk = domain.devices.disks?.[0];
      const parts = [vmi, spec, domain, domain.devices, ...(disk ? [disk] : [])];
      return parts.slice(1).map((part) => Object.keys(part).join());
    });
    for (let at = 0; at < 4; at++) {
      expect(new Set(shapes.flatMap((shape) => shape.slice(at, at + 1))).size).toBe(1);
    }
  });

  test.each([
    ["no VMI", null],
    ["no spec", {}],
    ["a text as the spec", { spec: "x" }],
    ["no domain", { spec: { volumes: "abc" } }],
    ["a null as the devices", { spec: { domain: { devices: null } } }],
    [
      "odd disks",
      { spec: { domain: { devices: { disks: [null, "x", 1], interfaces: "abc" } }, volumes: {} } },
    ],
  ])("leaves %s as it is", (_, vmi) => {
    expect(inOneShape(vmi as unknown as VirtualMachineInstance)).toEqual(vmi);
  });

  test("a property called __proto__ hides nothing and adds nothing", () => {
    const devices = JSON.parse(`{ "__proto__": { "rng": {}, "disks": [] } }`);
    const copy = inOneShape(smallVmi({ devices })).spec.domain.devices;
    expect([copy.rng, copy.disks]).toEqual([undefined, undefined]);
  });
});
