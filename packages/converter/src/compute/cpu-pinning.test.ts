import type { CPU, DomainSpec } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { type Changes, domainWith, errorPath } from "../testing/conversion.ts";

const topology = { numa_cells: [{ cpus: [0, 1, 2, 3, 4, 5, 6, 7].map((id) => ({ id })) }] };

function pinned(cpu: CPU, cpuSet: number[], rest: Changes & { spec?: object } = {}): Changes {
  const domain: Partial<DomainSpec> = {
    ...rest.domain,
    cpu: { dedicatedCpuPlacement: true, ...cpu },
  };
  return { ...rest, domain, context: { cpuSet, topology, ...rest.context } };
}

const disks = (count: number): Changes => {
  const names = Array.from({ length: count }, (_, at) => `d${at}`);
  return {
    devices: { disks: names.map((name) => ({ name, disk: { bus: "virtio" } })) },
    spec: { volumes: names.map((name) => ({ name, emptyDisk: { capacity: "1Gi" } })) },
    domain: { ioThreadsPolicy: "auto", resources: { requests: { cpu: "8" } } },
  };
};

describe("CPU pinning", () => {
  test("does nothing without dedicated CPUs", () => {
    expect(domainWith({ context: { cpuSet: [0], topology } }).cputune).toBeUndefined();
  });

  test("gives each CPU one of the host's, and informs an x86 guest", () => {
    const domain = domainWith(pinned({ cores: 2 }, [4, 6]));
    expect(domain.cputune?.vcpupin).toEqual([
      { vcpu: 0, cpuset: "4" },
      { vcpu: 1, cpuset: "6" },
    ]);
    expect(domain.features?.kvm).toEqual({ hintDedicated: { state: "on" } });
    expect(domainWith(pinned({ cores: 1 }, [4], { architecture: "arm64" })).features).toEqual({});
  });

  test("leaves out sockets that are plugged in later", () => {
    const domain = domainWith(pinned({ sockets: 1, maxSockets: 4 }, [0]));
    expect(domain.cputune?.vcpupin).toHaveLength(1);
  });

  test("gives an isolated emulator a CPU, or two for an even number if the annotation asks for it", () => {
    const cpu = { cores: 2, isolateEmulatorThread: true };
    expect(domainWith(pinned(cpu, [0, 1, 2, 3])).cputune?.emulatorpin).toEqual({ cpuset: "2" });
    const annotations = { "alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity": "" };
    expect(domainWith(pinned(cpu, [0, 1, 2, 3], { annotations })).cputune?.emulatorpin).toEqual({
      cpuset: "2,3",
    });
    const odd = { ...cpu, cores: 3 };
    expect(
      domainWith(pinned(odd, [0, 1, 2, 3], { annotations })).cputune?.emulatorpin?.cpuset,
    ).toBe("3");
    expect(errorPath(pinned(cpu, [0, 1]))).toBe("cpuSet");
    expect(errorPath(pinned(cpu, [0, 1, 2], { annotations }))).toBe("cpuSet");
  });

  test("puts I/O threads on the guest's CPUs in equal shares", () => {
    const shares = (threads: number, cores: number): unknown =>
      domainWith(
        pinned({ cores }, [0, 1, 2, 3, 4, 5, 6, 7], disks(threads)),
      ).cputune?.iothreadpin.map(({ cpuset }) => cpuset);
    expect(shares(3, 8)).toEqual(["0,1,2", "3,4,5", "6,7"]);
    expect(shares(3, 2)).toEqual(["1", "0", "1"]);
  });

  test("puts I/O threads beside an isolated emulator", () => {
    const domain = domainWith(pinned({ cores: 1, isolateEmulatorThread: true }, [0, 1], disks(2)));
    expect(domain.cputune?.iothreadpin).toEqual([{ iothread: 1, cpuset: "1" }]);
  });

  test("gives a thread pool its own CPUs", () => {
    const domain = {
      ioThreadsPolicy: "supplementalPool",
      ioThreads: { supplementalPoolThreadCount: 2 },
    };
    expect(domainWith(pinned({ cores: 1 }, [0, 1, 2], { domain })).cputune?.iothreadpin).toEqual([
      { iothread: 1, cpuset: "1" },
      { iothread: 2, cpuset: "2" },
    ]);
    expect(errorPath(pinned({ cores: 1 }, [0, 1], { domain }))).toBe("cpuSet");
  });

  test("turns performance counters off for real time", () => {
    expect(domainWith(pinned({ cores: 1, realtime: {} }, [0])).features?.pmu).toEqual({
      state: "off",
    });
  });

  test.each([
    ["too few CPUs", pinned({ cores: 2 }, [0]), "cpuSet"],
    [
      "I/O threads without a disk",
      pinned({ cores: 1 }, [0], { domain: { ioThreadsPolicy: "shared" } }),
      "spec.domain.ioThreadsPolicy",
    ],
    ["no topology", { ...pinned({ cores: 1 }, [0]), context: { cpuSet: [0] } }, "topology"],
    ["no number of CPUs", pinned({}, [0, 1, 2, 3, 4, 5, 6, 7], disks(1)), "spec.domain.cpu"],
  ])("fails with %s", (_what, changes, path) => {
    expect(errorPath(changes)).toBe(path);
  });
});
