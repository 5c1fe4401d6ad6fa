import { describe, expect, test } from "vitest";
import { functions } from "./converter.ts";

const vmi = {
  metadata: { name: "vm", namespace: "ns" },
  spec: {
    domain: { memory: { guest: "1Gi" }, devices: { interfaces: [{ name: "n", bridge: {} }] } },
    networks: [{ name: "n", pod: {} }],
  },
};
const environment = { podLinks: { eth0: { mac: "02:00:00:00:00:01", mtu: 1450 } } };

function call(name: string, input: unknown, context: unknown): { xml: string; counts?: object } {
  return functions[name]?.(input, context) as { xml: string };
}

describe("batch functions of the converter", () => {
  test("convert uses the given context, or creates one", () => {
    const resolved = { architecture: "s390x", hypervisorDeviceAvailable: true };
    expect(call("convert", { vmi }, { environment, resolved }).xml).toContain('arch="s390x"');
    expect(call("convert", { vmi }, { environment }).xml).toContain('arch="x86_64"');
  });

  test("domain reads YAML and sets defaults", () => {
    const vmiYaml = "metadata: { name: vm, namespace: ns }\nspec: { domain: { devices: {} } }\n";
    expect(call("domain", { vmiYaml }, { environment }).xml).toContain("<interface");
  });

  test("launcher edits the domain and counts its ports", () => {
    const { xml, counts } = call("launcher", { vmi }, { environment });
    expect(xml).toContain('<mac address="02:00:00:00:00:01"/>');
    expect(counts).toEqual({
      supportsPCIeHotplug: true,
      placeholderInterfaces: 3,
      extraRootPorts: 0,
      pciDevices: 5,
      gracePeriodSeconds: 30,
    });
  });

  test.each([
    ["convert", {}],
    ["convert", { vmi: [] }],
    ["domain", { vmiYaml: 7 }],
    ["domain", { vmiYaml: "" }],
    ["domain", { vmiYaml: "a: [" }],
  ])("%s refuses %j", (name, input) => {
    expect(() => call(name, input, {})).toThrow();
  });
});
