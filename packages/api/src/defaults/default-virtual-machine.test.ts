import { expect, test } from "vitest";
import { clusterConfig } from "../config/index.ts";
import type { VirtualMachine } from "../schema/index.ts";
import {
  defaultVirtualMachine,
  type VirtualMachineDefaultsOptions,
} from "./default-virtual-machine.ts";

const vm = (spec: Partial<VirtualMachine["spec"]> = {}): VirtualMachine => ({
  metadata: { namespace: "here" },
  spec: { runStrategy: "Always", template: { spec: { domain: { devices: {} } } }, ...spec },
});

let made = 0;
const options: VirtualMachineDefaultsOptions = { uuid: () => `made-up-${++made}` };

test("a VM without metadata gets empty metadata", () => {
  const { spec } = vm();
  expect(defaultVirtualMachine({ spec }, clusterConfig(), options).metadata).toEqual({});
});

test("a new VM gets an identity, an architecture, a machine type and a PCI layout", () => {
  made = 0;
  expect(defaultVirtualMachine(vm(), clusterConfig(), options).spec.template).toEqual({
    metadata: { annotations: { "kubevirt.io/pci-topology-version": "v3" } },
    spec: {
      architecture: "amd64",
      domain: {
        devices: {},
        resources: {},
        firmware: { uuid: "made-up-1", serial: "made-up-2" },
        machine: { type: "q35" },
      },
    },
  });
});

test("an update changes neither identity nor PCI layout", () => {
  const { template } = defaultVirtualMachine(vm(), clusterConfig(), { operation: "UPDATE" }).spec;
  expect(template.metadata).toEqual({});
  expect(template.spec?.domain.firmware).toBeUndefined();
  expect(template.spec?.domain.machine).toEqual({ type: "q35" });
});

test("keeps given values", () => {
  const spec = {
    architecture: "arm64",
    domain: { devices: {}, machine: { type: "virt-9.0" }, firmware: { uuid: "u", serial: "s" } },
  };
  const { template } = defaultVirtualMachine(vm({ template: { spec } }), clusterConfig()).spec;
  expect(template.spec).toEqual({ ...spec, domain: { ...spec.domain, resources: {} } });
});

test("the architecture comes from the cloned image, if it names a known one", () => {
  const cloning = (...names: string[]): VirtualMachine =>
    vm({
      dataVolumeTemplates: names.map((name) => ({
        metadata: { name },
        spec: { sourceRef: { kind: "DataSource", name }, storage: {} },
      })),
    });
  const labels: Record<string, Record<string, string>> = {
    "here/odd": { "template.kubevirt.io/architecture": "vax" },
    "here/arm": { "template.kubevirt.io/architecture": "arm64" },
  };
  const dataSourceLabels = (namespace: string, name: string): Record<string, string> | undefined =>
    labels[`${namespace}/${name}`];
  const architecture = (...names: string[]): unknown =>
    defaultVirtualMachine(cloning(...names), clusterConfig(), { dataSourceLabels }).spec.template
      .spec?.architecture;
  expect(architecture("none", "odd", "arm")).toBe("arm64");
  expect(architecture("odd")).toBe("amd64");
});
