import { describe, expect, test } from "vitest";
import { type Changes, domainWith, errorPath } from "../testing/conversion.ts";

const topology = {
  numa_cells: [
    { cpus: [{}, { id: 1 }] },
    { id: 3, cpus: [{ id: 2 }, { id: 3 }] },
    { id: 5, cpus: [{ id: 4 }] },
  ],
};

function passthrough(memory: object, cpuSet = [1, 2, 3], cpu: object = { cores: 3 }): Changes {
  const numa = { guestMappingPassthrough: {} };
  return {
    domain: { memory, cpu: { dedicatedCpuPlacement: true, numa, ...cpu } },
    context: { cpuSet, topology },
  };
}

describe("guest NUMA cells", () => {
  test("mirror the host cells in use, each with whole hugepages", () => {
    const domain = domainWith(passthrough({ guest: "10Mi", hugepages: { pageSize: "2Mi" } }));
    expect(domain.cpu.numa?.cells).toEqual([
      { id: 0, cpus: "0", memory: 6291456, unit: "b" },
      { id: 1, cpus: "1,2", memory: 4194304, unit: "b" },
    ]);
    expect(domain.numatune).toEqual({
      memory: { mode: "strict", nodeset: "0,3" },
      memnodes: [
        { cellid: 0, mode: "strict", nodeset: "0" },
        { cellid: 1, mode: "strict", nodeset: "3" },
      ],
    });
    expect(domain.memoryBacking).toMatchObject({
      allocation: { mode: "immediate" },
      hugepages: { page: [{ size: 2097152, unit: "b", nodeset: "0" }, { nodeset: "1" }] },
    });
  });

  test("do not share pages under real time", () => {
    const memory = { guest: "8Mi", hugepages: { pageSize: "2Mi" } };
    const domain = domainWith(passthrough(memory, [1, 2, 3], { cores: 3, realtime: {} }));
    expect(domain.memoryBacking?.nosharepages).toBe(true);
  });

  test.each([
    [{ guest: "8Mi" }, "spec.domain.memory.hugepages"],
    [{ guest: "9Mi", hugepages: { pageSize: "2Mi" } }, "spec.domain.memory.guest"],
    [{ guest: "2Mi", hugepages: { pageSize: "2Mi" } }, "spec.domain.memory.guest"],
    [{ guest: "8Mi", hugepages: { pageSize: "0" } }, "spec.domain.memory.hugepages.pageSize"],
    [{ guest: "8Mi", hugepages: { pageSize: "big" } }, "spec.domain.memory.hugepages.pageSize"],
  ])("fail with the memory %j", (memory, path) => {
    expect(errorPath(passthrough(memory))).toBe(path);
  });

  test("fail if a core would cross them", () => {
    const memory = { guest: "8Mi", hugepages: { pageSize: "2Mi" } };
    expect(errorPath(passthrough(memory, [1, 4], { cores: 1, threads: 2 }))).toBe("cpuSet");
  });
});
