import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { domainFor } from "./domain-for.ts";
import { smallVmi } from "./testing/conversion.ts";
import { toXml } from "./xml/to-xml.ts";

describe("domainFor", () => {
  test("needs only a VMI", () => {
    const domain = domainFor({ metadata: { name: "vm" }, spec: { domain: { devices: {} } } });
    expect(domain).toMatchObject({ type: "kvm", os: { type: { machine: "q35" } } });
    expect(domain.devices.interfaces).toHaveLength(1);
  });

  test("does not change its arguments, and returns the same each time", () => {
    const vmi = smallVmi({
      devices: { disks: [{ name: "c", disk: {} }] },
      spec: { volumes: [{ name: "c", containerDisk: { image: "i" } }] },
    });
    const environment = { firmwareUUID: "5d307ca9-b3ef-428c-8861-06e72d69f223" };
    const before = structuredClone(vmi);
    const xml = toXml(domainFor(vmi, environment));
    expect(toXml(domainFor(vmi, environment))).toBe(xml);
    expect(vmi).toEqual(before);
  });

  test("adds an input device for a VM on request", () => {
    const vmi = smallVmi({ devices: { autoattachInputDevice: true } });
    expect(domainFor(vmi, { ownedByVM: true }).devices.inputs).toMatchObject([
      { alias: { name: "ua-default-0" } },
    ]);
    expect(domainFor(vmi).devices.inputs).toEqual([]);
  });
});

describe("an invalid VMI", () => {
  test.each<[unknown, string]>([
    [null, "(root)"],
    [{}, "spec"],
    [{ spec: {} }, "spec.domain"],
    [{ spec: { domain: [] } }, "spec.domain"],
    [{ spec: { domain: { devices: { disks: {} } } } }, "spec.domain.devices.disks"],
    [{ spec: { domain: { devices: { disks: [null] } } } }, "spec.domain.devices.disks[0]"],
    [{ spec: { domain: { devices: { inputs: [7] } } } }, "spec.domain.devices.inputs[0]"],
    [{ spec: { domain: { devices: {}, cpu: { features: 1 } } } }, "spec.domain.cpu.features"],
  ])("is an error with its path, never a crash: %j", (given, path) => {
    expect(() => domainFor(given as VirtualMachineInstance)).toThrow(
      expect.objectContaining({ name: "ConverterError", code: "CONVERTER_VMI_MALFORMED", path }),
    );
  });
});
