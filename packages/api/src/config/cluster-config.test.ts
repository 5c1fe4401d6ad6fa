import { recordedFacts } from "@virtkit/conformance/recorded";
import fc from "fast-check";
import { expect, test } from "vitest";
import { names } from "../names/index.ts";
import type { KubeVirt, KubeVirtConfiguration } from "../schema/index.ts";
import { ClusterConfig } from "./cluster-config.ts";
import { type FeatureGate, featureGates } from "./feature-gates.ts";
import { clusterConfig, readClusterConfig } from "./read-cluster-config.ts";

test("an empty configuration has every default", () => {
  const config = clusterConfig();
  expect({
    machineTypes: ["amd64", "arm64", "s390x", "riscv64"].map((arch) => config.machineType(arch)),
    emulatedMachines: config.emulatedMachines("amd64"),
    ovmfPaths: ["amd64", "arm64", "s390x"].map((arch) => config.ovmfPath(arch)),
    cpuRequest: String(config.cpuRequest),
    memoryOvercommit: config.memoryOvercommit,
    evictionStrategy: config.evictionStrategy,
    hypervisor: config.hypervisor,
    liveUpdate: config.liveUpdate,
    maxHotplugRatio: config.maxHotplugRatio,
    defaultArchitecture: config.defaultArchitecture,
    commonInstancetypes: config.commonInstancetypesEnabled,
    qgs: config.qgsSocketPath,
  }).toEqual({
    machineTypes: ["q35", "virt", "s390-ccw-virtio", "q35"],
    emulatedMachines: ["q35*", "pc-q35*"],
    ovmfPaths: ["/usr/share/edk2/ovmf", "/usr/share/AAVMF", ""],
    cpuRequest: "100m",
    memoryOvercommit: 100,
    evictionStrategy: "None",
    hypervisor: { name: "kvm" },
    liveUpdate: true,
    maxHotplugRatio: 4,
    defaultArchitecture: "amd64",
    commonInstancetypes: true,
    qgs: "/var/run/tdx-qgs/qgs.socket",
  });
});

test("the default architecture is the status's, empty if the status has none", () => {
  const kubevirt = (status: object | undefined): KubeVirt => ({
    spec: {
      configuration: { architectureConfiguration: { defaultArchitecture: "s390x" } },
    },
    ...(status && { status }),
  });
  const of = (status?: object): string =>
    clusterConfig(kubevirt(status), { cpuArchitecture: "arm64" }).defaultArchitecture;
  expect([of({ defaultArchitecture: "amd64" }), of({}), of()]).toEqual(["amd64", "", "arm64"]);
});

test("settings for all architectures win over those for one, unless they are empty", () => {
  const forAll = clusterConfig({
    machineType: "pc-q35-rhel9",
    ovmfPath: "/ovmf",
    emulatedMachines: ["a*"],
  });
  expect([
    forAll.machineType("arm64"),
    forAll.ovmfPath("s390x"),
    forAll.emulatedMachines("arm64"),
  ]).toEqual(["pc-q35-rhel9", "/ovmf", ["a*"]]);
  const empty = clusterConfig({ machineType: "", ovmfPath: "", emulatedMachines: [] });
  expect([empty.machineType("arm64"), empty.emulatedMachines("arm64")]).toEqual([
    "virt",
    ["virt*"],
  ]);
});

test("another hypervisor needs its gate", () => {
  const hypervisors = [{ name: "mshv" }];
  const developerConfiguration = { featureGates: ["ConfigurableHypervisor"] };
  expect(clusterConfig({ hypervisors }).hypervisor).toEqual({ name: "kvm" });
  expect(clusterConfig({ hypervisors, developerConfiguration }).hypervisor).toEqual({
    name: "mshv",
  });
});

test("workload disruption follows post-copy unless it is set", () => {
  const disruption = (migrations: KubeVirtConfiguration["migrations"] = {}): boolean =>
    clusterConfig({ migrations }).migrations.allowWorkloadDisruption;
  expect([
    disruption(),
    disruption({ allowPostCopy: true }),
    disruption({ allowPostCopy: true, allowWorkloadDisruption: false }),
  ]).toEqual([false, true, false]);
});

test("helper containers: the first entry of the type that is not zero counts", () => {
  const config = clusterConfig({
    supportContainerResources: [
      { type: "sidecar", resources: { requests: { cpu: "0" }, limits: { memory: "40M" } } },
      { type: "sidecar", resources: { requests: { cpu: "15m" } } },
    ],
  });
  expect(String(config.supportContainerRequest("sidecar", "cpu"))).toBe("15m");
  expect(String(config.supportContainerLimit("sidecar", "memory"))).toBe("40M");
  expect(config.supportContainerLimit("sidecar", "cpu")).toBeUndefined();
  expect(config.supportContainerRequest("virtiofs", "cpu")).toBeUndefined();
});

test("mediated devices: entries with a matching selector add up, otherwise the general list counts", () => {
  const config = clusterConfig({
    mediatedDevicesConfiguration: {
      mediatedDevicesTypes: ["general"],
      nodeMediatedDeviceTypes: [
        { nodeSelector: { gpu: "a" }, mediatedDeviceTypes: ["x", "y"] },
        { nodeSelector: { gpu: "a", zone: "1" }, mediatedDevicesTypes: ["y", "z"] },
      ],
    },
  });
  expect(config.mediatedDeviceTypes({ gpu: "a", zone: "1" })).toEqual(["x", "y", "z"]);
  expect(config.mediatedDeviceTypes({ gpu: "a" })).toEqual(["x", "y"]);
  expect(config.mediatedDeviceTypes({ gpu: "b" })).toEqual(["general"]);
  expect(clusterConfig().mediatedDeviceTypes({})).toEqual([]);
});

test("the field, or the deprecated gate, turns off the handling of mediated devices", () => {
  const disabled = (mediatedDevicesConfiguration: object, gates: string[]): boolean =>
    clusterConfig({ mediatedDevicesConfiguration, developerConfiguration: { featureGates: gates } })
      .mediatedDevicesHandlingDisabled;
  expect([
    disabled({}, []),
    disabled({}, ["DisableMDEVConfiguration"]),
    disabled({ enabled: true }, ["DisableMDEVConfiguration"]),
    disabled({ enabled: false }, []),
  ]).toEqual([false, true, false, true]);
});

test("persistent reservation is on by its field or by naming the gate, not by the gate's state", () => {
  const gates = { featureGates: ["PersistentReservation"] };
  const on = (configuration: KubeVirtConfiguration): boolean =>
    clusterConfig(configuration).persistentReservationEnabled;
  expect([
    on({}),
    on({ developerConfiguration: gates }),
    on({ developerConfiguration: gates, persistentReservationConfiguration: { enabled: false } }),
    on({ persistentReservationConfiguration: { enabled: true } }),
  ]).toEqual([false, true, false, true]);
});

test("the log level of a node takes precedence over that of the component", () => {
  const config = clusterConfig({
    developerConfiguration: {
      logVerbosity: { virtHandler: 5, nodeVerbosity: { n1: 9, n2: 0, "": 7 } },
    },
  });
  expect([
    config.verbosity("virtHandler"),
    config.verbosity("virtHandler", "n1"),
    config.verbosity("virtHandler", "n2"),
    config.verbosity("virtHandler", "toString"),
    config.verbosity("virtAPI"),
    config.verbosity("virtSynchronizationController"),
  ]).toEqual([5, 9, 5, 5, 2, 0]);
});

test("options for all VMIs are on if they are present", () => {
  const config = clusterConfig({ virtualMachineOptions: { disableFreePageReporting: {} } });
  expect([config.freePageReportingDisabled, config.serialConsoleLogDisabled]).toEqual([
    true,
    false,
  ]);
});

test("the VGA display comes from an annotation of the KubeVirt object", () => {
  const metadata = { annotations: { "kubevirt.io/vga-display-efi-x86": "" } };
  expect(clusterConfig({ metadata, spec: {} }).vgaDisplayForEfiGuests).toBe(true);
  expect(clusterConfig({ spec: {} }).vgaDisplayForEfiGuests).toBe(false);
});

test("a platform with other names has them in its configuration", () => {
  const config = clusterConfig(
    { metadata: { annotations: { "vm.example/vga-display-efi-x86": "" } }, spec: {} },
    { names: names({ group: "vm.example" }) },
  );
  expect(config.vgaDisplayForEfiGuests).toBe(true);
  expect(config.migrations.nodeDrainTaintKey).toBe("vm.example/drain");
  expect(config.names.labels.createdBy).toBe("vm.example/created-by");
});

test("the compiler knows the names of gates", () => {
  const config = clusterConfig({ developerConfiguration: { featureGates: ["NoSuchGate"] } });
  // @ts-expect-error: not a gate of KubeVirt
  expect(config.gate("NoSuchGate")).toBe(false);
});

test("templates need their gate and can be turned off", () => {
  const disabledFeatureGates = ["Template"];
  expect(clusterConfig().templatesEnabled).toBe(true);
  expect(clusterConfig({ virtTemplateDeployment: { enabled: false } }).templatesEnabled).toBe(
    false,
  );
  expect(clusterConfig({ developerConfiguration: { disabledFeatureGates } }).templatesEnabled).toBe(
    false,
  );
});

test("defaults and gates equal KubeVirt's", () => {
  const recorded = JSON.parse(recordedFacts("control-context.json"));
  for (const [arch, expected] of Object.entries<KubeVirtConfiguration>(
    recorded.effectiveDefaultConfiguration,
  )) {
    const { configuration } = clusterConfig({}, { cpuArchitecture: arch });
    const { allowWorkloadDisruption, ...migrations } = configuration.migrations;
    expect(allowWorkloadDisruption).toBe(false);
    expect({ ...configuration, migrations }).toEqual(expected);
  }
  const config = clusterConfig();
  const ours = Object.entries(featureGates).map(([name, state]) => [
    name,
    { state, onByDefault: config.gate(name as FeatureGate) },
  ]);
  expect(Object.fromEntries(ours)).toEqual(recorded.featureGates);
});

test.each([
  [{ imagePullPolicy: "Sometimes" }, "imagePullPolicy"],
  [{ developerConfiguration: { memoryOvercommit: -1 } }, "developerConfiguration.memoryOvercommit"],
  [
    { developerConfiguration: { cpuAllocationRatio: -1 } },
    "developerConfiguration.cpuAllocationRatio",
  ],
  [
    { developerConfiguration: { pvcTolerateLessSpaceUpToPercent: 101 } },
    "developerConfiguration.pvcTolerateLessSpaceUpToPercent",
  ],
  [{ network: { defaultNetworkInterface: "macvtap" } }, "network.defaultNetworkInterface"],
  [{ cpuRequest: "lots" }, "cpuRequest"],
  [{ smbios: "x" }, "smbios"],
  [{ developerConfiguration: { featureGates: [7] } }, "developerConfiguration.featureGates[0]"],
])("refuses %j with its path", (configuration, field) => {
  const path = `spec.configuration.${field}`;
  expect(readClusterConfig(configuration)).toEqual([
    { path, message: expect.stringContaining(path) },
  ]);
  expect(() => clusterConfig(configuration as KubeVirtConfiguration)).toThrow(
    expect.objectContaining({ code: "API_CONFIG_INVALID", path }),
  );
});

test("reports all faults, not only the first", () => {
  const problems = readClusterConfig({ spec: { configuration: { smbios: 1, cpuModel: 2 } } });
  expect(problems).toHaveLength(2);
});

test.each([
  ["text", "spec.configuration"],
  [[1], "spec.configuration"],
  [{ spec: "x" }, "spec"],
  [{ kind: "Pod", spec: {} }, "kind"],
  [{ kind: 5 }, "kind"],
  [{ kind: "KubeVirt", metadata: { annotations: 1 } }, "metadata.annotations"],
  [{ kind: "KubeVirt", status: [] }, "status"],
])("%j is not a configuration", (source, path) => {
  expect(readClusterConfig(source)).toMatchObject([{ path }]);
});

test("does not judge the rest of the KubeVirt object", () => {
  const odd = { kind: "KubeVirt", spec: { infra: 7 }, status: { phase: 7 }, metadata: { name: 1 } };
  expect(readClusterConfig(odd)).toBeInstanceOf(ClusterConfig);
});

test("any JSON gives a working configuration, or problems", () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), nearly), (source) => {
      const read = readClusterConfig(source);
      if (!(read instanceof ClusterConfig)) return void expect(read.length).toBeGreaterThan(0);
      askEverything(read);
    }),
    { numRuns: 2000 },
  );
});

test("control: the same attack finds an accessor that trusts its input", () => {
  class Trusting extends ClusterConfig {
    override get cpuModel(): string {
      return (this.configuration.cpuModel as string).toUpperCase();
    }
  }
  const attack = fc.property(nearly, (source) => {
    const read = readClusterConfig(source);
    if (read instanceof ClusterConfig) askEverything(new Trusting(read.configuration, read));
  });
  expect(fc.check(attack, { numRuns: 2000 }).failed).toBe(true);
});

/** A few real fields, with values that may be of the wrong type. Few, so that some are valid. */
const nearly = ((): fc.Arbitrary<unknown> => {
  const value = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom("", "x", "1Gi", 0, 1, -1, true, false, null) },
    fc.jsonValue(),
  );
  const some = (fields: string[], of: (field: string) => fc.Arbitrary<unknown>) =>
    fc
      .subarray(fields, { maxLength: Math.min(fields.length, 2) })
      .chain((chosen) => fc.record(Object.fromEntries(chosen.map((name) => [name, of(name)]))));
  const defaults = clusterConfig().configuration as unknown as Record<string, object>;
  return some(Object.keys(defaults), (name) => {
    const group = Object(defaults[name]) as object;
    return Array.isArray(group)
      ? value
      : fc.oneof(
          value,
          some(Object.keys(group), () => value),
        );
  });
})();

/** Reads every accessor; none may throw, whatever the configuration. */
function askEverything(config: ClusterConfig): void {
  const names = Object.getOwnPropertyNames(ClusterConfig.prototype) as (keyof ClusterConfig)[];
  for (const name of names) void config[name];
  config.machineType("arm64");
  config.emulatedMachines("s390x");
  config.ovmfPath("amd64");
  config.supportContainerLimit("sidecar", "cpu");
  config.mediatedDeviceTypes({ a: "b" });
  config.verbosity("virtHandler", "n");
  config.gate("Snapshot");
}
