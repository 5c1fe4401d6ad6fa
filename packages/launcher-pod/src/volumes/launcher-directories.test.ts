import { expect, test } from "vitest";
import {
  container,
  render,
  type Scene,
  type VmiParts,
  withGates,
  withoutGates,
} from "../testing/render.ts";

const volumes = (parts: VmiParts, scene?: Scene): string[] =>
  render(parts, scene).spec.volumes?.map(({ name }) => name) ?? [];

test("every launcher has its directories; hotplug can be switched off", () => {
  const always = [
    "private",
    "public",
    "sockets",
    "virt-bin-share-dir",
    "libvirt-runtime",
    "ephemeral-disks",
  ];
  expect(volumes({})).toEqual([...always, "hotplug-disks"]);
  expect(volumes({ devices: { disableHotplug: true } })).toEqual(always);
  expect(volumes({}, withoutGates("ImageVolume"))).toContain("container-disks");
});

test("plugins have a directory if the cluster has plugins", () => {
  expect(volumes({}, withGates("Plugins"))).toContain("kubevirt-plugin-sockets");
});

test("hugepages come from their own file system", () => {
  const pod = render({ domain: { memory: { hugepages: { pageSize: "2Mi" } } } });
  expect(pod.spec.volumes).toContainEqual({ name: "hugepages", emptyDir: { medium: "HugePages" } });
  expect(container(pod, "compute")?.volumeMounts).toContainEqual({
    name: "hugetblfs-dir",
    mountPath: "/dev/hugepages/libvirt/qemu",
  });
});

test.each<[string, VmiParts["devices"], boolean]>([
  ["SR-IOV", { interfaces: [{ name: "n", sriov: {} }] }, true],
  ["a plugin that asks", { interfaces: [{ name: "n", binding: { name: "asks" } }] }, true],
  ["a plugin that does not", { interfaces: [{ name: "n", binding: { name: "quiet" } }] }, false],
])("%s sees the Pod's network devices", (_, devices, sees) => {
  const binding = { asks: { downwardAPI: "device-info" }, quiet: {} };
  const scene: Scene = { configuration: { network: { binding } } };
  const networks = [{ name: "n", pod: {} }];
  const parts = { spec: { networks }, devices: devices ?? {} };
  expect(volumes(parts, scene).includes("network-info-annotation")).toBe(sees);
});
