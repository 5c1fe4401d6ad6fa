import { expect, test } from "vitest";
import { temporaryDirectory } from "../testing/temporary-directory.ts";
import { nodeTopology } from "./node-topology.ts";

test("reads a device's NUMA node and nearby CPUs from the kernel", async () => {
  const { path, fill } = await temporaryDirectory();
  await fill({
    "bus/pci/devices/0000:81:00.0/numa_node": "1\n",
    "bus/pci/devices/0000:81:00.0/local_cpulist": "0-2,8\n",
    "bus/pci/devices/0000:82:00.0/numa_node": "-1\n",
    "bus/pci/devices/0000:82:00.0/local_cpulist": "5-1,9999999\n",
  });
  const topology = nodeTopology(path);
  expect(topology.numaNode("0000:81:00.0")).toBe(1);
  expect(topology.nearbyCpus("0000:81:00.0")).toEqual([0, 1, 2, 8]);
  for (const address of ["0000:82:00.0", "0000:99:00.0", "../../../etc/passwd", ""]) {
    expect(topology.numaNode(address), address).toBe(undefined);
    expect(topology.nearbyCpus(address), address).toBe(undefined);
  }
});
