import { describe, expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

const hugepages = { memory: { guest: "1Gi", hugepages: { pageSize: "2Mi" } } };
const shared = { filesystems: [{ name: "fs", virtiofs: {} }] };
const cell = { cells: [{ id: 0, cpus: "0-0", memory: 1048576, unit: "KiB" }] };

describe("memory backing", () => {
  test("is left out unless it is needed", () => {
    expect(domainWith().memoryBacking).toBeUndefined();
    expect(domainWith().cpu.numa).toBeUndefined();
  });

  test("of hugepages is a memfd, which needs a NUMA cell", () => {
    const domain = domainWith({ domain: hugepages });
    expect(domain.memoryBacking).toEqual({ hugepages: { page: [] }, source: { type: "memfd" } });
    expect(domain.cpu.numa).toEqual(cell);
  });

  test("of hugepages is not a memfd if the annotation says so", () => {
    const domain = domainWith({ domain: hugepages, annotations: { "kubevirt.io/memfd": "false" } });
    expect(domain.memoryBacking).toEqual({ hugepages: { page: [] } });
    expect(domain.cpu.numa).toBeUndefined();
  });

  test("is shared, and a memfd whatever the annotation, for file systems and passt", () => {
    const annotations = { "kubevirt.io/memfd": "false" };
    const expected = { access: { mode: "shared" }, source: { type: "memfd" } };
    expect(domainWith({ devices: shared, annotations }).memoryBacking).toEqual(expected);
    const passt = domainWith({
      devices: { interfaces: [{ name: "n", passtBinding: {} }] },
      spec: { networks: [{ name: "n", pod: {} }] },
      status: { interfaces: [{ name: "n", podInterfaceName: "eth0" }] },
    });
    expect(passt.memoryBacking).toEqual(expected);
    expect(passt.cpu.numa).toEqual(cell);
  });
});
