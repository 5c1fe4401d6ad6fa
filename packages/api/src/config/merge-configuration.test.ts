import { expect, test } from "vitest";
import type { KubeVirtConfiguration } from "../schema/index.ts";
import { mergeConfiguration } from "./merge-configuration.ts";

const merge = (configuration: object): ReturnType<typeof mergeConfiguration> =>
  mergeConfiguration(configuration as KubeVirtConfiguration, {
    defaultArchitecture: "amd64",
    drainTaint: "kubevirt.io/drain",
  });

test("merges objects field by field, replaces lists and scalars", () => {
  const { architectureConfiguration, supportedGuestAgentVersions, smbios } = merge({
    architectureConfiguration: { arm64: { machineType: "virt-9" } },
    supportedGuestAgentVersions: ["9.*"],
    smbios: { sku: "1" },
  });
  expect(architectureConfiguration.arm64).toEqual({
    machineType: "virt-9",
    emulatedMachines: ["virt*"],
    ovmfPath: "/usr/share/AAVMF",
  });
  expect(supportedGuestAgentVersions).toEqual(["9.*"]);
  expect(smbios).toEqual({
    family: "KubeVirt",
    manufacturer: "KubeVirt",
    product: "None",
    sku: "1",
  });
});

test("null and empty values keep the default where KubeVirt does not write them", () => {
  const { imagePullPolicy, developerConfiguration, network, hypervisors } = merge({
    imagePullPolicy: "",
    developerConfiguration: { memoryOvercommit: 0, logVerbosity: null },
    network: { defaultNetworkInterface: null },
    hypervisors: [],
  });
  expect(imagePullPolicy).toBe("IfNotPresent");
  expect(developerConfiguration.memoryOvercommit).toBe(100);
  expect(developerConfiguration.logVerbosity.virtAPI).toBe(2);
  expect(network.defaultNetworkInterface).toBe("bridge");
  expect(hypervisors).toEqual([{ name: "kvm" }]);
});

test("empty values count where they have a meaning", () => {
  const { memBalloonStatsPeriod, network, migrations, virtualMachineInstancesPerNode } = merge({
    memBalloonStatsPeriod: 0,
    virtualMachineInstancesPerNode: 0,
    network: { permitBridgeInterfaceOnPodNetwork: false },
    migrations: { parallelMigrationsPerCluster: 0, progressTimeout: 0 },
  });
  expect([memBalloonStatsPeriod, virtualMachineInstancesPerNode]).toEqual([0, 0]);
  expect(network.permitBridgeInterfaceOnPodNetwork).toBe(false);
  expect(migrations).toMatchObject({ parallelMigrationsPerCluster: 0, progressTimeout: 0 });
});

test("a rate limit and a disk verification replace the whole default", () => {
  const merged = merge({
    apiConfiguration: { restClient: { rateLimiter: { tokenBucketRateLimiter: { burst: 7 } } } },
    developerConfiguration: { diskVerification: {} },
  });
  expect(merged.apiConfiguration.restClient?.rateLimiter).toEqual({
    tokenBucketRateLimiter: { qps: 0, burst: 7 },
  });
  expect(merged.developerConfiguration.diskVerification).toEqual({});
});

test("the result is frozen and shares nothing with the input", () => {
  const featureGates = ["HostDisk"];
  const merged = merge({ developerConfiguration: { featureGates } });
  featureGates.push("Root");
  expect(merged.developerConfiguration.featureGates).toEqual(["HostDisk"]);
  expect(() => merged.developerConfiguration.featureGates?.push("x")).toThrow(TypeError);
});

test("a field called __proto__ stays a field", () => {
  const merged = merge(JSON.parse('{"__proto__":{"polluted":true},"a":{"__proto__":[1]}}'));
  expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("refuses an endlessly nested field with its path", () => {
  const deep = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);
  expect(() => merge({ whatever: deep })).toThrow(
    expect.objectContaining({ code: "API_CONFIG_INVALID", path: "spec.configuration.whatever" }),
  );
});
