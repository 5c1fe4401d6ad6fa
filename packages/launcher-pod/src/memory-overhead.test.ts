import { clusterConfig } from "@virtkit/api/config";
import { quantityFrom } from "@virtkit/api/quantity";
import type { KubeVirtConfiguration } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { memoryOverhead } from "./memory-overhead.ts";
import { testProfile, testVmi, type VmiParts } from "./testing/render.ts";

const mebibyte = 1024 * 1024;

function overhead(parts: VmiParts, configuration: KubeVirtConfiguration = {}): number {
  const { total } = memoryOverhead(testVmi(parts), clusterConfig(configuration), testProfile);
  return Number(total.value());
}

/** Processes 220Mi, one vCPU 8Mi, I/O thread 8Mi, video 32Mi; no memory request, so no page tables. */
const bare = 268 * mebibyte;
const resources = {};

test("a guest without a memory request needs only the fixed parts", () => {
  expect(overhead({ domain: { resources } })).toBe(bare);
});

test("page tables need 1/512 of the request, which counts in whole kilobytes rounded up", () => {
  expect(overhead({ domain: { resources: { requests: { memory: "1Gi" } } } })).toBe(
    bare + Math.floor((1_073_742 * 1000) / 512),
  );
});

test.each<[string, VmiParts, number]>([
  ["8Mi for each further vCPU", { domain: { resources, cpu: { cores: 2, sockets: 2 } } }, 24],
  ["vCPUs from a CPU limit", { domain: { resources: { limits: { cpu: "2500m" } } } }, 16],
  ["vCPUs from a CPU request", { domain: { resources: { requests: { cpu: 2 } } } }, 8],
  ["no video memory", { domain: { resources }, devices: { autoattachGraphicsDevice: false } }, -32],
  ["firmware on arm64", { spec: { architecture: "arm64" }, domain: { resources } }, 128],
  [
    "1Gi for a GPU",
    { domain: { resources }, devices: { gpus: [{ name: "g", deviceName: "x/y" }] } },
    1024,
  ],
  [
    "1Gi for an SR-IOV interface",
    { domain: { resources }, devices: { interfaces: [{ name: "n", sriov: {} }] } },
    1024,
  ],
  [
    "a metrics disk",
    { spec: { volumes: [{ name: "m", downwardMetrics: {} }] }, domain: { resources } },
    1,
  ],
  ["one exec probe", { spec: { livenessProbe: { exec: {} } }, domain: { resources } }, 110],
  [
    "two exec probes",
    { spec: { livenessProbe: { exec: {} }, readinessProbe: { exec: {} } }, domain: { resources } },
    120,
  ],
  [
    "nothing for an agent ping",
    { spec: { livenessProbe: { guestAgentPing: {} } }, domain: { resources } },
    0,
  ],
  ["SEV", { domain: { resources, launchSecurity: { snp: {} } } }, 256],
  ["a TPM", { domain: { resources }, devices: { tpm: {} } }, 53],
  ["no TPM if it is off", { domain: { resources }, devices: { tpm: { enabled: false } } }, 0],
  [
    "dedicated CPUs",
    { domain: { resources, cpu: { cores: 1, dedicatedCpuPlacement: true } } },
    100,
  ],
  [
    "what the VMI reserves",
    { domain: { resources, memory: { reservedOverhead: { addedOverhead: "5Mi" } } } },
    5,
  ],
  [
    "passt",
    { domain: { resources }, devices: { interfaces: [{ name: "n", passtBinding: {} }] } },
    250,
  ],
])("%s", (_, parts, mebibytes) => {
  expect(overhead(parts)).toBe(bare + mebibytes * mebibyte);
});

test("the ratio scales everything but the network, in whole kilobytes", () => {
  const parts = {
    domain: { resources },
    devices: { interfaces: [{ name: "n", passtBinding: {} }] },
  };
  const kilobytes = Math.ceil(bare / 1000);
  expect(overhead(parts, { additionalGuestMemoryOverheadRatio: "1.5" })).toBe(
    bare + Math.trunc(kilobytes * 0.5) * 1000 + 250 * mebibyte,
  );
});

test("a plugin's memory counts once, however many interfaces use it", () => {
  const interfaces = [
    { name: "a", binding: { name: "p" } },
    { name: "b", binding: { name: "p" } },
    { name: "c", binding: { name: "constructor" } },
  ];
  const binding = { p: { computeResourceOverhead: { requests: { memory: "7Mi" } } } };
  expect(
    overhead({ domain: { resources }, devices: { interfaces } }, { network: { binding } }),
  ).toBe(bare + 7 * mebibyte);
});

test("the parts add up to the total and each says why", () => {
  const vmi = testVmi({ devices: { tpm: {} }, domain: { cpu: { cores: 3 } } });
  const config = clusterConfig({ additionalGuestMemoryOverheadRatio: "1.25" });
  const { total, parts } = memoryOverhead(vmi, config);
  const sum = parts.reduce((all, { amount }) => all.add(amount), quantityFrom(0));
  expect(sum.equals(total)).toBe(true);
  expect(parts.every(({ name, because }) => name && because)).toBe(true);
});

test("refuses a request that is not a quantity, with its path", () => {
  const parts = { domain: { resources: { requests: { memory: "much" } } } };
  expect(() => overhead(parts)).toThrow(
    expect.objectContaining({
      code: "LAUNCHER_POD_FIELD_INVALID",
      path: "spec.domain.resources.requests.memory",
    }),
  );
});

test.each([
  [undefined, "(root)"],
  [{ spec: {} }, "spec.domain"],
  [{ spec: { domain: { devices: { interfaces: [null] } } } }, "spec.domain.devices.interfaces[0]"],
  [{ spec: { domain: { devices: {} }, volumes: "all" } }, "spec.volumes"],
])("says where %j is not a VMI", (odd, path) => {
  expect(() => memoryOverhead(odd as never, clusterConfig())).toThrow(
    expect.objectContaining({ code: "LAUNCHER_POD_VMI_INVALID", path }),
  );
});
