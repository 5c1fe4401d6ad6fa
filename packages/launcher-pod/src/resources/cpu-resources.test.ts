import type { CPU } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { render, resources, type Scene, type VmiParts } from "../testing/render.ts";

function cpus(parts: VmiParts, scene?: Scene): (string | undefined)[] {
  const { requests, limits } = resources(render(parts, scene));
  return [requests?.["cpu"], limits?.["cpu"]];
}

const ratio = (cpuAllocationRatio: number): Scene => ({
  configuration: { developerConfiguration: { cpuAllocationRatio } },
});

test.each<[CPU | undefined, Scene, string]>([
  [undefined, {}, "100m"],
  [{ cores: 4, threads: 2 }, {}, "800m"],
  [{ sockets: 20 }, {}, "2"],
  [{ cores: 1 }, ratio(3), "333333334n"],
  [{ cores: 10 }, ratio(3), "3333333334n"],
  [{ cores: 4 }, ratio(1), "4"],
])("a guest with %j shares CPUs: %j gives %s", (cpu, scene, request) => {
  expect(cpus({ domain: cpu ? { cpu } : {} }, scene)).toEqual([request, undefined]);
});

test("I/O threads of the supplemental pool count as vCPUs", () => {
  const ioThreads = { supplementalPoolThreadCount: 2 };
  expect(cpus({ domain: { cpu: { cores: 2 }, ioThreads } })[0]).toBe("400m");
});

test("keeps an explicit request", () => {
  const stated = { requests: { cpu: "3", memory: "1Gi" } };
  expect(cpus({ domain: { cpu: { cores: 2 }, resources: stated } })).toEqual(["3", undefined]);
});

test("a namespace that limits CPUs gets a limit of all vCPUs", () => {
  const hard = { "limits.cpu": "10" };
  const quota = { metadata: { name: "q", namespace: "ns" }, spec: { hard } };
  const elsewhere = { ...quota, metadata: { name: "q", namespace: "other" } };
  const parts = { domain: { cpu: { cores: 3 } } };
  expect(cpus(parts, { objects: { resourceQuotas: [quota] } })).toEqual(["300m", "3"]);
  expect(cpus(parts, { objects: { resourceQuotas: [elsewhere] } })).toEqual(["300m", undefined]);
});

test("a namespace that the configuration selects gets a limit, too", () => {
  const configuration = { autoCPULimitNamespaceLabelSelector: { matchLabels: { tier: "small" } } };
  const namespace = (tier: string): Scene => ({
    configuration,
    objects: { namespaces: [{ metadata: { name: "ns", labels: { tier } } }] },
  });
  expect(cpus({}, namespace("small"))[1]).toBe("1");
  expect(cpus({}, namespace("large"))[1]).toBeUndefined();
  expect(cpus({}, { configuration })[1]).toBeUndefined();
});

const dedicated = (cpu: CPU): VmiParts => ({
  domain: { cpu: { dedicatedCpuPlacement: true, ...cpu } },
});

test("dedicated CPUs are request and limit, and the memory limit equals the request", () => {
  const { requests, limits } = resources(render(dedicated({ cores: 2, threads: 2 })));
  expect([requests?.["cpu"], limits?.["cpu"]]).toEqual(["4", "4"]);
  expect(limits?.["memory"]).toBe(requests?.["memory"]);
});

test("without a topology, dedicated CPUs are what the VMI sets plus the I/O threads", () => {
  const parts: VmiParts = {
    domain: {
      cpu: { dedicatedCpuPlacement: true },
      ioThreads: { supplementalPoolThreadCount: 1 },
      resources: { requests: { memory: "1Gi" }, limits: { cpu: "2" } },
    },
  };
  expect(cpus(parts)).toEqual([undefined, "3"]);
});

test.each([
  [2, undefined, "3"],
  [2, "", "4"],
  [3, "", "4"],
])(
  "an isolated emulator takes one CPU in addition to %i, or an even number with %j",
  (cores, parity, total) => {
    const key = "alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity";
    const metadata = parity === undefined ? {} : { annotations: { [key]: parity } };
    const parts = { metadata, ...dedicated({ cores, isolateEmulatorThread: true }) };
    expect(cpus(parts)).toEqual([total, total]);
  },
);
