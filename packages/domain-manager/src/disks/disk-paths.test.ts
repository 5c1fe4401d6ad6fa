import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { domainFor, prepareVmi, toXml } from "@virtkit/converter";
import { expect, test } from "vitest";
import { kernelBootFiles } from "./container-disk.ts";
import { DiskPaths } from "./disk-paths.ts";
import { planHostDisks } from "./host-disk.ts";
import { planDisks } from "./plan-disks.ts";

const volumes: VirtualMachineInstance["spec"]["volumes"] = [
  { name: "container", containerDisk: { image: "x" } },
  { name: "ephemeral", ephemeral: { persistentVolumeClaim: { claimName: "p" } } },
  { name: "empty", emptyDisk: { capacity: "1Gi" } },
  { name: "metrics", downwardMetrics: {} },
  { name: "config", configMap: { name: "x" } },
  { name: "hidden", secret: { secretName: "x" } },
  { name: "down", downwardAPI: { fields: [] } },
  { name: "account", serviceAccount: { serviceAccountName: "x" } },
  { name: "windows", sysprep: { configMap: { name: "x" } } },
  { name: "cloud", cloudInitConfigDrive: { userData: "x" } },
  { name: "host", hostDisk: { path: "/data/h.img", type: "DiskOrCreate", capacity: "1Gi" } },
  { name: "claim", persistentVolumeClaim: { claimName: "c" } },
];

const vmi: VirtualMachineInstance = {
  metadata: {
    name: "vm1",
    namespace: "ns",
    annotations: { "kubevirt.io/ignitiondata": '{"ignition":{}}' },
  },
  spec: {
    domain: {
      devices: { disks: volumes.map(({ name }) => ({ name, disk: { bus: "virtio" } })) },
      firmware: {
        bootloader: { efi: { secureBoot: false } },
        kernelBoot: {
          container: { image: "x", kernelPath: "/boot/vmlinuz", initrdPath: "/boot/initrd" },
        },
      },
      memory: { guest: "1Gi" },
    },
    volumes,
  },
  status: {
    volumeStatus: volumes.map(({ name, persistentVolumeClaim }) => {
      const size = { persistentVolumeClaimInfo: { capacity: { storage: "1Gi" } } };
      return { name, target: "", ...(persistentVolumeClaim ? size : {}) };
    }),
  },
};

test("creates every disk where the domain looks for it", () => {
  const environment = { disksInfo: { container: { format: "raw" } } };
  const prepared = prepareVmi(vmi, environment);
  const xml = toXml(domainFor(vmi, environment));
  const paths = new DiskPaths();
  const made = [
    ...planDisks(prepared).flatMap((step) =>
      step.kind === "overlay" ? [step.path, step.backing] : [step.path],
    ),
    ...planHostDisks(prepared).map(({ directory, file }) => `${directory}/${file}`),
    ...kernelBootFiles(prepared).map(({ target }) => target),
    paths.cloudInit(prepared, "configDrive"),
    paths.firmwareVariables(prepared, true),
  ];
  expect(made).toHaveLength(18);
  expect(made.filter((path) => !xml.includes(path))).toEqual([]);
});

test.each(["", ".", "..", "a/b", "a\0b", "x".repeat(256)])("rejects %j as a file name", (name) => {
  const paths = new DiskPaths();
  const calls = [
    () => paths.overlay(name),
    () => paths.emptyDisk(name),
    () => paths.configImage("secret", name),
    () => paths.hostDiskDirectory(name),
    () => paths.cloudInit({ ...vmi, metadata: { name, namespace: "ns" } }, "noCloud"),
    () => paths.ignition({ ...vmi, metadata: { name } }),
  ];
  for (const call of calls)
    expect(call).toThrow(expect.objectContaining({ code: "DISK_VMI_INVALID" }));
});
