import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clusterConfig } from "@virtkit/api/config";
import { expect, onTestFinished, test } from "vitest";
import { readCapabilityFiles } from "./capability-files.ts";
import { readCapabilities } from "./node-capabilities.ts";
import { nodeLabelsFor, planLabels } from "./node-labels.ts";

const domainCapabilities = `<domainCapabilities>
  <cpu>
    <mode name="host-passthrough" supported="yes"/>
    <mode name="host-model" supported="yes">
      <model fallback="forbid">Skylake-Server</model>
      <vendor>Intel</vendor>
      <feature policy="require" name="hypervisor"/>
      <feature policy="disable" name="mpx"/>
    </mode>
    <mode name="custom" supported="yes">
      <model usable="yes" vendor="Intel">Skylake-Server</model>
      <model usable="unknown">Nehalem</model>
      <model usable="no">EPYC</model>
      <model usable="yes">qemu64</model>
      <model>untold</model>
      <model usable="yes"> </model>
    </mode>
  </cpu>
  <features>
    <sev supported="yes"><cbitpos>47</cbitpos><maxESGuests>15</maxESGuests></sev>
    <tdx supported="no"/>
    <launchSecurity supported="yes">
      <enum name="sectype"><value>sev</value><value>sev-snp</value></enum>
    </launchSecurity>
  </features>
</domainCapabilities>`;
const supportedCpu = `<cpu mode="custom"><model>Skylake-Server</model>
  <feature policy="require" name="vmx"/><feature policy="disable" name="mpx"/><feature name="x"/></cpu>`;
const capabilities = `<capabilities><host><cpu><arch>x86_64</arch>
  <counter name="tsc" frequency="2500000000" scaling="yes"/></cpu></host>
  <guest><os_type>hvm</os_type><arch name="x86_64">
    <machine maxCpus="255" canonical="pc-q35-9.2">q35</machine><machine deprecated="yes">pc-q35-9.2</machine>
  </arch></guest></capabilities>`;
const documents = { domainCapabilities, supportedCpu, capabilities };
const facts = { architecture: "amd64", realtime: true, hyperv: ["base", "vpindex"] };

test("makes the same labels as KubeVirt's labeller from the same documents", () => {
  const labels = nodeLabelsFor(readCapabilities(documents, "amd64"), facts, clusterConfig());
  expect(
    Object.keys(labels)
      .filter((key) => labels[key] === "true")
      .sort(),
  ).toEqual([
    "cpu-feature.node.kubevirt.io/vmx",
    "cpu-model-migration.node.kubevirt.io/EPYC",
    "cpu-model-migration.node.kubevirt.io/Nehalem",
    "cpu-model-migration.node.kubevirt.io/Skylake-Server",
    "cpu-model.node.kubevirt.io/Nehalem",
    "cpu-model.node.kubevirt.io/Skylake-Server",
    "cpu-timer.node.kubevirt.io/tsc-scalable",
    "cpu-vendor.node.kubevirt.io/Intel",
    "host-model-cpu.node.kubevirt.io/Skylake-Server",
    "host-model-required-features.node.kubevirt.io/hypervisor",
    "hyperv.node.kubevirt.io/base",
    "hyperv.node.kubevirt.io/vpindex",
    "kubevirt.io/realtime",
    "kubevirt.io/sev",
    "kubevirt.io/sev-es",
    "kubevirt.io/sev-snp",
    "machine-type.node.kubevirt.io/pc-q35-9.2",
    "machine-type.node.kubevirt.io/q35",
  ]);
  expect(labels["cpu-timer.node.kubevirt.io/tsc-frequency"]).toBe("2500000000");
  expect(readCapabilities(documents, "amd64").deprecatedMachines).toEqual(["pc-q35-9.2"]);
});

test("reports a host model that the configuration calls obsolete; a configured list replaces the default", () => {
  const config = clusterConfig({ obsoleteCPUModels: { "Skylake-Server": true } });
  const labels = nodeLabelsFor(readCapabilities(documents, "amd64"), facts, config);
  expect(labels).toMatchObject({
    "node-labeller.kubevirt.io/obsolete-host-model": "true",
    "cpu-model.node.kubevirt.io/qemu64": "true",
  });
  expect(labels).not.toHaveProperty(["cpu-model.node.kubevirt.io/Skylake-Server"]);
});

test("arm64 has neither models nor features; s390x has features without a policy, and its vendor", () => {
  const config = clusterConfig({
    developerConfiguration: { featureGates: ["CrossArchitectureVirtualization"] },
  });
  const arm = readCapabilities({ ...documents, emulated: ["amd64"] }, "arm64");
  const labels = nodeLabelsFor(arm, { ...facts, architecture: "arm64" }, config);
  expect(Object.keys(labels).filter((key) => key.startsWith("cpu-model"))).toEqual([]);
  expect(labels).toMatchObject({ "kubevirt.io/vm-arch-arm64": "true" });
  expect(labels).toMatchObject({ "kubevirt.io/vm-arch-amd64": "true" });
  const without = domainCapabilities.replace("<vendor>Intel</vendor>", "");
  const s390x = readCapabilities({ ...documents, domainCapabilities: without }, "s390x");
  expect(s390x.features).toEqual(["vmx", "x"]);
  expect(s390x.hostModel?.vendor).toBe("IBM");
});

test.each([
  ["not XML", { ...documents, capabilities: "no" }],
  [
    "a host model without a model",
    { ...documents, domainCapabilities: '<d><cpu><mode name="host-model"/></cpu></d>' },
  ],
])("%s is rejected", (_, given) => {
  expect(() => readCapabilities(given, "amd64")).toThrow();
});

test("changes only its own labels, and only those that differ", () => {
  const { names } = clusterConfig();
  const model = "cpu-model.node.kubevirt.io/";
  const current = {
    [`${model}Old`]: "true",
    [`${model}Same`]: "true",
    other: "x",
    "kubevirt.io/schedulable": "true",
  };
  const wanted = { [`${model}Same`]: "true", [`${model}New`]: "true" };
  expect(planLabels(current, wanted, names)).toEqual({
    [`${model}New`]: "true",
    [`${model}Old`]: null,
  });
  expect(planLabels(wanted, wanted, names)).toEqual({});
});

test("a name that is not a valid label does not affect others", () => {
  const odd = capabilities.replace(
    '<machine deprecated="yes">pc-q35-9.2<',
    `<machine>${"x".repeat(99)} /<`,
  );
  const read = readCapabilities({ ...documents, capabilities: odd }, "amd64");
  const machines = Object.keys(nodeLabelsFor(read, facts, clusterConfig())).filter((key) =>
    key.startsWith("machine-type"),
  );
  expect(machines).toEqual(["machine-type.node.kubevirt.io/q35"]);
});

test("reads the init container's files by KubeVirt's names; without them nothing is known", () => {
  const directory = mkdtempSync("/tmp/labeller-");
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  expect(readCapabilityFiles(directory)).toBeUndefined();
  writeFileSync(join(directory, "virsh_domcapabilities.xml"), domainCapabilities);
  writeFileSync(join(directory, "capabilities.xml"), capabilities);
  writeFileSync(join(directory, "supported_features.xml"), supportedCpu);
  writeFileSync(join(directory, "virsh_domcapabilities_aarch64.xml"), "");
  expect(readCapabilityFiles(directory)).toEqual({ ...documents, emulated: [] });
  writeFileSync(join(directory, "virsh_domcapabilities_aarch64.xml"), "<domainCapabilities/>");
  expect(readCapabilityFiles(directory)?.emulated).toEqual(["arm64"]);
});
