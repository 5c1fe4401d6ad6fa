import type { Devices } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { render, resources, type Scene, type VmiParts, withGates } from "../testing/render.ts";

function limits(parts: VmiParts, scene?: Scene): string[] {
  return Object.keys(resources(render(parts, scene)).limits ?? {}).sort();
}

const device = (name: string): string => `devices.kubevirt.io/${name}`;

test.each<[string, Partial<Devices>, Scene, string[]]>([
  ["no network", {}, {}, ["kvm"]],
  ["an interface", { interfaces: [{ name: "n" }] }, {}, ["kvm", "tun", "vhost-net"]],
  ["an e1000", { interfaces: [{ name: "n", model: "e1000" }] }, {}, ["kvm", "tun"]],
  ["a VSOCK", { autoattachVSOCK: true }, {}, ["kvm", "vhost-vsock"]],
  [
    "emulation",
    { interfaces: [{ name: "n" }] },
    { configuration: { developerConfiguration: { useEmulation: true } } },
    ["tun"],
  ],
  [
    "another hypervisor",
    {},
    {
      configuration: {
        hypervisors: [{ name: "hyperv-direct" }],
        developerConfiguration: { featureGates: ["ConfigurableHypervisor"] },
      },
    },
    ["mshv"],
  ],
  ["the IOMMUFD gate", {}, withGates("IOMMUFD"), ["iommufd", "kvm"]],
  [
    "a LUN with reservations",
    { disks: [{ name: "d", lun: { reservation: true } }] },
    {},
    ["kvm", "pr-helper"],
  ],
])("%s requests the node's devices", (_, devices, scene, names) => {
  expect(limits({ devices }, scene)).toEqual(names.map(device));
});

test("expects an interface unless it is disabled", () => {
  const { limits: all } = resources(render({ devices: { autoattachPodInterface: true } }));
  expect(all).toHaveProperty([device("tun")]);
});

test.each([
  [{ sev: {} }, "sev"],
  [{ snp: {} }, "sev"],
  [{ tdx: {} }, "tdx"],
])("launch security %j requests the device %s", (launchSecurity, name) => {
  const { requests } = resources(render({ domain: { launchSecurity } }));
  expect(requests?.[device(name)]).toBe("1");
});

test("each device of a plugin counts, as request and limit", () => {
  const gpus = [
    { name: "a", deviceName: "x/gpu" },
    { name: "b", deviceName: "x/gpu" },
  ];
  const hostDevices = [{ name: "c", deviceName: "x/gpu" }];
  const { requests, limits: upper } = resources(render({ devices: { gpus, hostDevices } }));
  expect([requests?.["x/gpu"], upper?.["x/gpu"]]).toEqual(["3", "3"]);
});

test("keeps what the VMI sets for a device", () => {
  const stated = { requests: { memory: "1Gi" }, limits: { "x/gpu": "5" } };
  const gpus = [{ name: "a", deviceName: "x/gpu" }];
  const { requests, limits: upper } = resources(
    render({ domain: { resources: stated }, devices: { gpus } }),
  );
  expect([requests?.["x/gpu"], upper?.["x/gpu"]]).toEqual(["1", "5"]);
});

test("claimed devices and networks are claims of the container", () => {
  const parts: VmiParts = {
    spec: { networks: [{ name: "n", resourceClaim: { claimName: "nets", requestName: "fast" } }] },
    devices: {
      gpus: [{ name: "a", claimName: "gpus", requestName: "one" }],
      hostDevices: [{ name: "b", claimName: "others" }],
      interfaces: [{ name: "n", sriov: {} }],
    },
  };
  expect(resources(render(parts)).claims).toEqual([
    { name: "gpus", request: "one" },
    { name: "others" },
  ]);
  expect(resources(render(parts, withGates("NetworkDevicesWithDRA"))).claims).toContainEqual({
    name: "nets",
    request: "fast",
  });
});

test("network devices come from attachment definitions, unless something else injects them", () => {
  const networks = [
    { name: "a", multus: { networkName: "fast" } },
    { name: "b", multus: { networkName: "other/fast" } },
    { name: "c", multus: { networkName: "plain" } },
  ];
  const devices = { interfaces: networks.map(({ name }) => ({ name, bridge: {} })) };
  const key = "k8s.v1.cni.cncf.io/resourceName";
  const definition = (namespace: string, name: string, resource?: string): object => ({
    metadata: { namespace, name, ...(resource ? { annotations: { [key]: resource } } : {}) },
  });
  const networkAttachmentDefinitions = [
    definition("ns", "fast", "x/vf"),
    definition("other", "fast", "x/vf"),
    definition("ns", "plain"),
  ] as NonNullable<Scene["objects"]>["networkAttachmentDefinitions"];
  const objects = networkAttachmentDefinitions ? { networkAttachmentDefinitions } : {};
  const configuration = {
    developerConfiguration: { disabledFeatureGates: ["ExternalNetResourceInjection"] },
  };
  const parts = { spec: { networks }, devices };
  expect(resources(render(parts, { configuration, objects })).limits?.["x/vf"]).toBe("2");
  expect(resources(render(parts, { objects })).limits?.["x/vf"]).toBeUndefined();
  expect(() => render(parts, { configuration })).toThrow(
    expect.objectContaining({
      code: "LAUNCHER_POD_NOT_FOUND",
      path: "spec.networks[0].multus.networkName",
    }),
  );
});
