import { expect, test } from "vitest";
import { type Change, type ClusterOptions, instance, judged, verdict } from "../testing/verdict.ts";

const cluster = (selector: string, ...gates: string[]): ClusterOptions => ({
  gates,
  configuration: {
    permittedHostDevices: {
      pciHostDevices: [{ resourceName: "n/grace", pciVendorSelector: selector }],
    },
  },
});
const gpu: Change = { gpus: [{ name: "g", deviceName: "n/grace" }] };
const field = "spec.domain.devices.gpus[0].deviceName";
const all = ["GraceIOVirtualization", "PCINUMAAwareTopology", "IOMMUFD"];

test.each<[string, ClusterOptions, string[]]>([
  ["the gate is off", cluster("10de:2342"), [`Invalid ${field}`]],
  ["any NVIDIA device", cluster("0x10DE:*", ...all), [`Invalid ${field}`]],
  ["any NVIDIA device, with the gate off", cluster("10DE:*"), []],
  ["another device", cluster("10DE:1EB8"), []],
  ["an invalid selector", cluster("10DE:2342:1"), []],
  [
    "a guest that is not set up like the host",
    cluster("10DE:2941", "GraceIOVirtualization"),
    [
      "Invalid spec.architecture",
      "Invalid spec.domain.machine.type",
      "Required spec.domain.cpu.dedicatedCpuPlacement",
      "Invalid spec.domain.devices",
      "Invalid spec.domain.devices",
    ],
  ],
])("%s", (_, options, expected) => {
  expect(verdict({ domain: { devices: gpu } }, options)).toEqual(expected);
});

const suitable = (rest: Change = {}): Record<string, unknown> =>
  instance(
    {
      architecture: "arm64",
      domain: {
        machine: { type: "virt" },
        cpu: { cores: 2, dedicatedCpuPlacement: true },
        devices: { ...gpu, hostDevices: undefined },
      },
    },
    rest,
  );

test("a VMI like the host may have the GPU, without annotations that affect its address space", () => {
  const options = cluster("10DE:2348", ...all);
  expect(judged(suitable(), options)).toEqual([]);
  const annotations = {
    "kubevirt.io/placePCIDevicesOnRootComplex": "true",
    "kubevirt.io/disablePCIHole64": "true",
  };
  expect(judged(suitable({ metadata: { annotations } }), options)).toEqual(
    Object.keys(annotations).map((key) => `Invalid metadata.annotations[${key}]`),
  );
  expect(judged(suitable({ metadata: { annotations } }), {})).toEqual([]);
});

test("what the spec leaves out comes from the cluster", () => {
  const object = instance({ architecture: "", domain: { machine: undefined, devices: gpu } });
  const options = { ...cluster("10DE:2342", "GraceIOVirtualization"), architecture: "arm64" };
  expect(judged(object, options)).not.toContain("Invalid spec.domain.machine.type");
});
