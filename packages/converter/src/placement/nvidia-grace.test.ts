import { describe, expect, test } from "vitest";
import type { AssignedHostDevice, ConverterContext } from "../context.ts";
import { type Changes, domainWith, errorPath } from "../testing/conversion.ts";

const address = { Type: "pci", Domain: "0x0009", Bus: "0x01", Slot: "0x00", Function: "0x0" };
const gpu: AssignedHostDevice = {
  Type: "pci",
  Source: { Address: address },
  Alias: { Name: "gpu-g", UserDefined: true },
};
const pci = "sys/bus/pci/devices/0009:01:00.0";
const distances = "10 40 40 40 40 40 40 40 40";

const hostFiles: Record<string, string> = {
  "sys/class/iommu/arm-smmu-v3.0": "dir:",
  [`${pci}/vendor`]: "0x10de\n",
  [`${pci}/device`]: "0x2342\n",
  [`${pci}/numa_node`]: "0\n",
  [`${pci}/resource`]: "0x0 0x0 0x0\n0x100000000 0x1ffffffff 0x14220c\n0x1000 0x1fff 0x40200\n",
  "sys/devices/system/node/online": "0-8",
  "sys/devices/system/node/has_generic_initiator": "1-8",
  "sys/devices/system/node/node0/distance": distances,
  ...Object.fromEntries(
    [1, 2, 3, 4, 5, 6, 7, 8].map((node) => [
      `sys/devices/system/node/node${node}/distance`,
      "40 10 10 10 10 10 10 10 10",
    ]),
  ),
};

function withGpu(
  context: Partial<ConverterContext> = {},
  annotations: Record<string, string> = {},
): Changes {
  return {
    architecture: "arm64",
    annotations,
    domain: {
      memory: { guest: "2Mi", hugepages: { pageSize: "2Mi" } },
      cpu: { cores: 1, dedicatedCpuPlacement: true, numa: { guestMappingPassthrough: {} } },
    },
    context: {
      cpuSet: [0],
      topology: { numa_cells: [{ cpus: [{}] }] },
      gpuHostDevices: [gpu],
      graceHostDeviceAliases: ["gpu-g"],
      graceIOVirtualizationEnabled: true,
      pciNumaAwareTopologyEnabled: true,
      iommufdEnabled: true,
      host: { hostFiles },
      ...context,
    },
  };
}

/** Distance from the guest's CPUs to the GPU's first node if nodes 2 to 9 name the GPU. */
function distanceToGpu(below: string): number | undefined {
  const nodes = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  const files: Record<string, string> = {
    ...hostFiles,
    "sys/devices/system/node/online": "0-9",
    "sys/devices/system/node/has_generic_initiator": "1-9",
    "sys/devices/system/node/node0/distance": "10 41 42 42 42 42 42 42 42 42",
  };
  for (const node of nodes) {
    files[`sys/devices/system/node/node${node}/distance`] = "40 10 10 10 10 10 10 10 10 10";
    if (node > 1) files[`sys/devices/system/node/node${node}/${below}0009:01:00.0`] = "dir:";
  }
  const domain = domainWith(withGpu({ host: { hostFiles: files } }));
  return domain.cpu.numa?.cells[0]?.distances?.siblings[1]?.value;
}

const [nextNodes, ownNodes] = [41, 42];

describe("a Grace GPU", () => {
  test("gets a bus, an IOMMU, a PCI window and eight NUMA nodes", () => {
    const domain = domainWith(withGpu());
    const [device] = domain.devices.hostDevices;
    expect(device).toMatchObject({
      driver: { iommufd: "yes" },
      acpi: { nodeset: "1-8" },
      address: { bus: "2" },
    });
    expect(domain.devices.iommus).toEqual([
      {
        model: "smmuv3",
        driver: { pciBus: "1", accel: "on", ats: "on", ril: "off", ssidSize: "20", oas: "48" },
      },
    ]);
    const root = domain.devices.controllers.find(({ model }) => model === "pcie-root");
    expect(root?.pcihole64).toEqual({ unit: "KiB", value: 1024 ** 3 });
    expect(domain.cpu.numa?.cells).toHaveLength(9);
    expect(domain.cpu.numa?.cells[1]).toMatchObject({ id: 1, memory: 0, unit: "KiB" });
  });

  test.each([
    ["its own directory", ""],
    ["a directory below", "access0/"],
    ["a directory below that", "access0/initiators/"],
  ])("gets the nodes that name it in %s", (_what, below) => {
    expect(distanceToGpu(below)).toBe(ownNodes);
  });

  test.each([
    ["deeper down", "access0/initiators/a/"],
    ["among huge pages", "hugepages/"],
  ])("gets the next free nodes if others name it %s", (_what, below) => {
    expect(distanceToGpu(below)).toBe(nextNodes);
  });

  test("keeps the host's distances, but only a cell itself is at 10", () => {
    const cells = domainWith(withGpu()).cpu.numa?.cells ?? [];
    expect(cells[0]?.distances?.siblings.slice(0, 2)).toEqual([
      { id: 0, value: 10 },
      { id: 1, value: 40 },
    ]);
    expect(cells[1]?.distances?.siblings.slice(0, 3)).toEqual([
      { id: 0, value: 40 },
      { id: 1, value: 10 },
      { id: 2, value: 11 },
    ]);
  });

  const without = (file: string): Partial<ConverterContext> => {
    const { [file]: _gone, ...rest } = hostFiles;
    return { host: { hostFiles: rest } };
  };
  const changed = (file: string, content: string): Partial<ConverterContext> => ({
    host: { hostFiles: { ...hostFiles, [file]: content } },
  });

  test.each([
    ["the gate", { graceIOVirtualizationEnabled: false }, "graceIOVirtualizationEnabled"],
    ["NUMA placement", { pciNumaAwareTopologyEnabled: false }, "pciNumaAwareTopologyEnabled"],
    ["a file descriptor", { iommufdEnabled: false }, "iommufdEnabled"],
    ["an SMMUv3", without("sys/class/iommu/arm-smmu-v3.0"), "host.hostFiles"],
    ["the device", { gpuHostDevices: [] }, "graceHostDeviceAliases"],
    ["an NVIDIA device", changed(`${pci}/vendor`, "0x8086"), "graceHostDeviceAliases"],
    ["a NUMA node", changed(`${pci}/numa_node`, "-1"), "host.hostFiles"],
    ["a guest cell", changed(`${pci}/numa_node`, "7"), "topology"],
    ["memory", changed(`${pci}/resource`, ""), "host.hostFiles"],
    [
      "its own nodes",
      changed("sys/devices/system/node/has_generic_initiator", "1-4"),
      "host.hostFiles",
    ],
    [
      "the directory of a node",
      changed("sys/devices/system/node/has_generic_initiator", "1-9"),
      "host.hostFiles",
    ],
    ["distances", without("sys/devices/system/node/node3/distance"), "host.hostFiles"],
  ])("fails without %s", (_what, context, path) => {
    expect(errorPath(withGpu(context))).toBe(path);
  });

  test("fails if the PCI window is switched off in other spellings", () => {
    const annotation = "kubevirt.io/disablePCIHole64";
    const changes = { ...withGpu({}, { [annotation]: "TRUE" }), architecture: "amd64" };
    expect(errorPath(changes)).toBe(`metadata.annotations["${annotation}"]`);
  });

  test.each(["kubevirt.io/disablePCIHole64", "kubevirt.io/placePCIDevicesOnRootComplex"])(
    "fails with the annotation %s",
    (annotation) => {
      expect(errorPath(withGpu({}, { [annotation]: "true" }))).toBe(
        `metadata.annotations["${annotation}"]`,
      );
    },
  );
});
