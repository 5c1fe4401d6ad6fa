import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { smallVmi } from "./testing/conversion.ts";
import { representativeVmis } from "./testing/representative-vmis.ts";
import { uniformVmi } from "./uniform-vmi.ts";

describe("uniformVmi", () => {
  test.each(representativeVmis)("means the same and changes nothing: $name", ({ vmi }) => {
    const before = structuredClone(vmi);
    // `toEqual` treats `undefined` as missing.
    expect(uniformVmi(vmi)).toEqual(before);
    expect(vmi).toStrictEqual(before);
  });

  test("makes objects of the same properties in the same order", () => {
    const shapes = new Map<string, Set<string>>();
    for (const { vmi } of representativeVmis) {
      const { spec } = uniformVmi(vmi);
      const { cpu, devices, features, firmware, memory } = spec.domain;
      const [disk, card, volume] = [devices.disks, devices.interfaces, spec.volumes].map(
        (list) => list?.[0],
      );
      const parts = {
        spec,
        domain: spec.domain,
        cpu,
        devices,
        features,
        firmware,
        memory,
        disk,
        card,
        volume,
      };
      for (const [name, part] of Object.entries(parts)) {
        if (part) shapes.set(name, (shapes.get(name) ?? new Set()).add(Object.keys(part).join()));
      }
    }
    expect(shapes.size).toBe(10);
    for (const [name, kinds] of shapes) expect(kinds.size, name).toBe(1);
  });

  test.each([
    ["no VMI", null],
    ["no spec", {}],
    ["a string as the spec", { spec: "x" }],
    ["no domain", { spec: { volumes: "abc" } }],
    ["null as the devices", { spec: { domain: { devices: null } } }],
    [
      "odd disks",
      { spec: { domain: { devices: { disks: [null, "x", 1], interfaces: "abc" } }, volumes: {} } },
    ],
  ])("leaves %s as it is", (_, vmi) => {
    expect(uniformVmi(vmi as unknown as VirtualMachineInstance)).toEqual(vmi);
  });

  test("a property called __proto__ hides nothing and adds nothing", () => {
    const devices = JSON.parse(`{ "__proto__": { "rng": {}, "disks": [] } }`);
    const copy = uniformVmi(smallVmi({ devices })).spec.domain.devices;
    expect([copy.rng, copy.disks]).toEqual([undefined, undefined]);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });
});
