import type { Interface } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { type Changes, domainWith, errorPath } from "../testing/conversion.ts";

function withCard(card: Partial<Interface>, changes: Changes = {}): Changes {
  return {
    ...changes,
    devices: { ...changes.devices, interfaces: [{ name: "n", ...card }] },
    spec: { networks: [{ name: "n", pod: {} }] },
    context: { domainAttachmentByInterfaceName: { n: "tap" }, ...changes.context },
  };
}

function card(source: Partial<Interface>, changes: Changes = {}): object | undefined {
  return domainWith(withCard(source, changes)).devices.interfaces[0];
}

describe("interfaces", () => {
  test("are cards on an existing TAP device", () => {
    expect(card({ masquerade: {} })).toEqual({
      type: "ethernet",
      source: {},
      model: { type: "virtio-non-transitional" },
      rom: { enabled: "no" },
      alias: { name: "ua-n" },
    });
  });

  test("without a name are on the network without one", () => {
    const name = undefined as unknown as string;
    const context = { domainAttachmentByInterfaceName: { "": "tap" } };
    const changes = { ...withCard({ name }, { context }), spec: { networks: [{ name, pod: {} }] } };
    expect(domainWith(changes).devices.interfaces[0]).toMatchObject({
      type: "ethernet",
      alias: { name: "ua-" },
    });
  });

  test("have what the VMI sets", () => {
    const source = {
      model: "e1000",
      macAddress: "02:00:00:00:00:01",
      bootOrder: 1,
      acpiIndex: 7,
      state: "down",
      pciAddress: "0000:81:01.0",
    };
    expect(card(source)).toMatchObject({
      model: { type: "e1000" },
      mac: { address: "02:00:00:00:00:01" },
      boot: { order: 1 },
      acpi: { index: 7 },
      link: { state: "down" },
      address: { type: "pci", domain: "0x0000", bus: "0x81", slot: "0x01", function: "0x0" },
    });
    expect(card(source)).toMatchObject({ rom: undefined });
  });

  test("have no boot ROM if there is none, or if memory is encrypted", () => {
    expect(card({}, { architecture: "s390x" })).toMatchObject({ rom: undefined });
    expect(card({ bootOrder: 1 }, { context: { useLaunchSecuritySEV: true } })).toMatchObject({
      rom: { enabled: "no" },
      driver: { name: "vhost", iommu: "on" },
    });
  });

  test("have a queue for each CPU, up to 256, on virtio", () => {
    const queues = (cores: number, model = "virtio"): object | undefined =>
      card(
        { model },
        { devices: { networkInterfaceMultiqueue: true }, domain: { cpu: { cores } } },
      );
    expect(queues(4)).toMatchObject({ driver: { name: "vhost", queues: 4 } });
    expect(queues(300)).toMatchObject({ driver: { queues: 256 } });
    expect(queues(4, "e1000e")).not.toHaveProperty("driver.queues");
  });

  test.each([
    ["absent ones", { state: "absent" }],
    ["network functions", { sriov: {} }],
    ["a plugin's interface without a TAP device", { binding: { name: "p" } }],
  ])("leave out %s", (_what, source) => {
    expect(card(source, { context: { domainAttachmentByInterfaceName: {} } })).toBeUndefined();
  });

  test("have no type if nothing attaches them", () => {
    expect(card({}, { context: { domainAttachmentByInterfaceName: {} } })).toMatchObject({
      type: "",
    });
  });

  test("fail without their network, or with a bad address", () => {
    expect(errorPath({ devices: { interfaces: [{ name: "n" }] } })).toBe(
      "spec.domain.devices.interfaces[0].name",
    );
    expect(errorPath(withCard({ pciAddress: "81:00" }))).toBe(
      "spec.domain.devices.interfaces[0].pciAddress",
    );
  });
});
