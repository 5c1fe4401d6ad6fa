import type { Interface } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { type Changes, domainWith, smallVmi } from "../testing/conversion.ts";
import {
  hotplugPorts,
  withDefinedDevices,
  withPlaceholders,
  withRootPorts,
} from "./hotplug-ports.ts";

function cards(count: number, changes: Changes = {}): Changes {
  const interfaces = Array.from({ length: count }, (_, at): Interface => ({ name: `n${at}` }));
  return {
    ...changes,
    devices: { interfaces },
    spec: { networks: interfaces.map(({ name }) => ({ name, pod: {} })) },
  };
}

function ports(changes: Changes): unknown {
  const { placeholderInterfaces, extraRootPorts } = hotplugPorts(
    smallVmi(changes),
    domainWith(changes),
  );
  return [placeholderInterfaces, extraRootPorts];
}

const large = { domain: { memory: { guest: "3Gi" } } };

describe("hotplugPorts", () => {
  test.each([
    ["one card", cards(1), [3, 0]],
    ["two cards", cards(2), [2, 1]],
    ["no card", cards(0), [0, 4]],
    ["five cards", cards(5), [0, 3]],
    ["much memory", cards(1, large), [3, 8]],
    [
      "the root bus",
      cards(1, { annotations: { "kubevirt.io/placePCIDevicesOnRootComplex": "true" } }),
      [0, 0],
    ],
    [
      "a given slot count",
      cards(1, { annotations: { "kubevirt.io/pci-interface-slot-count": "9" } }),
      [8, 0],
    ],
    ["s390x", cards(1, { architecture: "s390x" }), [0, 0]],
    [
      "an old machine type",
      cards(1, { domain: { memory: { guest: "1Gi" }, machine: { type: "pc" } } }),
      [0, 0],
    ],
  ])("with %s are %j", (_what, changes, expected) => {
    expect(ports(changes)).toEqual(expected);
  });

  test("fail with a number of ports that is not a number", () => {
    const changes = cards(1, { annotations: { "kubevirt.io/pci-interface-slot-count": "few" } });
    expect(() => ports(changes)).toThrow(
      expect.objectContaining({
        path: 'metadata.annotations["kubevirt.io/pci-interface-slot-count"]',
      }),
    );
  });
});

describe("a domain that is defined for the first time", () => {
  const domain = domainWith(cards(1));

  test("has placeholders while libvirt assigns addresses, and then none", () => {
    const placed = withPlaceholders(domain, smallVmi(cards(1)), 2);
    expect(placed.devices.interfaces.slice(1)).toMatchObject([
      {
        type: "ethernet",
        target: { dev: "placeholder-0", managed: "no" },
        model: { type: "virtio-non-transitional" },
      },
      { alias: { name: "placeholder-1" } },
    ]);
    const port = { type: "pci", index: 7, model: "pcie-root-port" };
    const defined = {
      ...placed,
      name: "other",
      devices: { ...placed.devices, controllers: [port] },
    };
    const result = withDefinedDevices(domain, defined);
    expect(result.name).toBe("ns_vm");
    expect(result.devices.controllers).toEqual([port]);
    expect(result.devices.interfaces).toBe(domain.devices.interfaces);
  });

  test("gets empty ports after the last, as far as the root bus has room", () => {
    const at = (index: number): typeof domain => ({
      ...domain,
      devices: {
        ...domain.devices,
        controllers: [{ type: "pci", index, model: "pcie-root-port" }],
      },
    });
    const added = (index: number, count: number): number[] =>
      withRootPorts(at(index), count)
        .devices.controllers.slice(1)
        .map((port) => port.index);
    expect(added(4, 2)).toEqual([5, 6]);
    expect(added(30, 4)).toEqual([31]);
    expect(added(31, 4)).toEqual([]);
  });
});
