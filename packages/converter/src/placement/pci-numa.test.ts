import { describe, expect, test } from "vitest";
import type { AssignedHostDevice, HostFacts } from "../context.ts";
import { type Changes, domainWith, errorPath } from "../testing/conversion.ts";

const topology = {
  numa_cells: [{ cpus: [{}, { id: 1 }] }, { id: 1, cpus: [{ id: 2 }, { id: 3 }] }],
};
const nodes = { "0000:0a:00.0": "1", "0000:0b:00.0": "0", "0000:0c:00.0": "1" };

function device(bus: string, placed = false): AssignedHostDevice {
  const address = { Type: "pci", Domain: "0x0000", Bus: `0x${bus}`, Slot: "0x00", Function: "0x0" };
  return {
    Type: "pci",
    Source: { Address: address },
    Alias: { Name: bus, UserDefined: true },
    ...(placed ? { Address: address } : {}),
  };
}

function numa(devices: AssignedHostDevice[], host: HostFacts, strict = true): Changes {
  const cpu = { cores: 4, dedicatedCpuPlacement: true };
  return {
    domain: {
      memory: { guest: "8Mi", hugepages: { pageSize: "2Mi" } },
      cpu: strict ? { ...cpu, numa: { guestMappingPassthrough: {} } } : cpu,
    },
    context: {
      cpuSet: [0, 1, 2, 3],
      topology,
      pciNumaAwareTopologyEnabled: true,
      genericHostDevices: devices,
      host,
    },
  };
}

describe("PCI devices near their NUMA node", () => {
  test("sit behind an expander bus of their guest cell, each on its own port", () => {
    const given = numa([device("0a"), device("0b"), device("0c")], { pciDeviceNumaNodes: nodes });
    const { controllers, hostDevices } = domainWith(given).devices;
    expect(controllers.filter(({ type }) => type === "pci")).toEqual([
      { type: "pci", index: 1, model: "pcie-expander-bus", target: { busNr: 254, node: 0 } },
      { type: "pci", index: 2, model: "pcie-root-port", address: port("1", "0x00") },
      { type: "pci", index: 3, model: "pcie-expander-bus", target: { busNr: 251, node: 1 } },
      { type: "pci", index: 4, model: "pcie-root-port", address: port("3", "0x00") },
      { type: "pci", index: 5, model: "pcie-root-port", address: port("3", "0x01") },
    ]);
    expect(hostDevices.map(({ address }) => address?.bus)).toEqual(["4", "2", "5"]);
  });

  function port(bus: string, slot: string): object {
    return { type: "pci", domain: "0x0000", bus, slot, function: "0x0" };
  }

  test("use the CPUs of their node if no memory is bound", () => {
    const host = { pciDeviceNumaNodes: nodes, hostNumaNodeCPUs: { 0: "0-1", 1: "2-3" } };
    const { controllers } = domainWith(numa([device("0a")], host, false)).devices;
    expect(controllers.find(({ model }) => model === "pcie-expander-bus")?.target?.node).toBe(0);
  });

  test.each([
    ["no node", device("0d"), {}],
    ["a node without affinity", device("0a"), { "0000:0a:00.0": "-1" }],
    ["a guest address", device("0a", true), nodes],
    ["no address", { Type: "pci", Source: {} }, {}],
  ])(
    "fail with %s if the guest mirrors the host, and stay otherwise",
    (_what, given, pciDeviceNumaNodes) => {
      expect(errorPath(numa([given], { pciDeviceNumaNodes }))).toBe("host.pciDeviceNumaNodes");
      const { controllers } = domainWith(numa([given], { pciDeviceNumaNodes }, false)).devices;
      expect(controllers.some(({ type }) => type === "pci")).toBe(false);
    },
  );

  test("are left alone without the gate", () => {
    const given = numa([device("0a")], { pciDeviceNumaNodes: nodes });
    const context = { ...given.context, pciNumaAwareTopologyEnabled: false };
    expect(domainWith({ ...given, context }).devices.hostDevices[0]?.address).toBeUndefined();
  });
});
