import { inspect } from "node:util";
import { names } from "@virtkit/api/names";
import type { VirtualMachineInstance, Volume } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { planDisks } from "./plan-disks.ts";

function vmi(
  volumes: Volume[],
  disks = volumes.map(({ name }) => ({ name })),
): VirtualMachineInstance {
  return {
    metadata: { name: "vm1", namespace: "ns" },
    spec: { domain: { devices: { disks } }, volumes },
  };
}

test("creates a disk for every kind of volume where KubeVirt's domain expects it", () => {
  const subject = vmi([
    { name: "c", containerDisk: { image: "x" } },
    { name: "e", ephemeral: { persistentVolumeClaim: { claimName: "p" } } },
    { name: "n", emptyDisk: { capacity: "1.5Mi" } },
    { name: "m", downwardMetrics: {} },
    { name: "cm", configMap: { name: "x" } },
    { name: "s", secret: { secretName: "x", volumeLabel: "mine" } },
    { name: "d", downwardAPI: { fields: [] } },
    { name: "sa", serviceAccount: { serviceAccountName: "x" } },
    { name: "w", sysprep: { configMap: { name: "x" } } },
    { name: "ci", cloudInitNoCloud: { userData: "x" } },
    { name: "pvc", persistentVolumeClaim: { claimName: "p" } },
  ]);
  const dir = "/var/run/kubevirt-private";
  const overlays = "/var/run/kubevirt-ephemeral-disks/disk-data";
  expect(planDisks(subject)).toEqual([
    {
      kind: "overlay",
      volume: "c",
      path: `${overlays}/c/disk.qcow2`,
      backing: "/var/run/kubevirt/container-disks/disk_0.img",
    },
    {
      kind: "overlay",
      volume: "e",
      path: `${overlays}/e/disk.qcow2`,
      backing: `${dir}/vmi-disks/e/disk.img`,
      format: "raw",
    },
    { kind: "empty", volume: "n", path: "/var/run/libvirt/empty-disks/n.qcow2", size: 1n << 20n },
    { kind: "metrics", volume: "m", path: `${dir}/downwardapi-disks/vhostmd0` },
    media("cm", `${dir}/config-map-disks/cm.iso`, `${dir}/config-map/cm`, "cfgdata"),
    media("s", `${dir}/secret-disks/s.iso`, `${dir}/secret/s`, "mine"),
    media("d", `${dir}/downwardapi-disks/d.iso`, `${dir}/downwardapi/d`, "cfgdata"),
    media(
      "sa",
      `${dir}/service-account-disk/service-account.iso`,
      "/var/run/secrets/kubernetes.io/serviceaccount",
      "cfgdata",
    ),
    {
      ...media("w", `${dir}/sysprep-disks/w.iso`, `${dir}/sysprep/w`, "unattendCD"),
      needs: ["autounattend.xml", "unattend.xml"],
    },
  ]);
});

function media(volume: string, path: string, source: string, label: string) {
  return { kind: "media", volume, path, source, label };
}

test("shares a volume that is not a disk as a file system; sysprep is always a disk", () => {
  const volumes: Volume[] = [
    { name: "cm", configMap: { name: "x" } },
    { name: "w", sysprep: { secret: { name: "x" } } },
    { name: "empty", sysprep: {} },
  ];
  expect(planDisks(vmi(volumes, [])).map((step) => "volume" in step && step.volume)).toEqual(["w"]);
});

test("backs an ephemeral volume on a block device with the device", () => {
  const subject = vmi([{ name: "e", ephemeral: { persistentVolumeClaim: { claimName: "p" } } }]);
  expect(planDisks(subject, { blockVolumes: new Set(["e"]) })).toMatchObject([
    { backing: "/dev/e" },
  ]);
});

test("uses the platform's directories", () => {
  const own = names({ directories: { private: "/mine" } });
  const subject = vmi([{ name: "cm", configMap: { name: "x" } }]);
  expect(planDisks(subject, { names: own })).toMatchObject([
    { path: "/mine/config-map-disks/cm.iso" },
  ]);
});

test("the target of a migration gets blank images of the source's sizes", () => {
  const subject = vmi([{ name: "cm", configMap: { name: "x" } }]);
  expect(() => planDisks(subject, { blankMedia: true })).toThrow(/no size of volume "cm"/);
  const status = { volumeStatus: [{ name: "cm", target: "", size: 4096 }] };
  expect(planDisks({ ...subject, status }, { blankMedia: true })).toMatchObject([
    { kind: "blank", volume: "cm", size: 4096 },
  ]);
});

test("plans ignition data, which does not show when the plan is printed", () => {
  const subject = vmi([]);
  const annotations = { "kubevirt.io/ignitiondata": '{"passwd":"hunter2"}' };
  const plan = planDisks({ ...subject, metadata: { ...subject.metadata, annotations } });
  expect(plan).toMatchObject([
    { kind: "ignition", path: "/var/run/kubevirt-ephemeral-disks/ignition-data/ns/vm1/data.ign" },
  ]);
  expect(inspect(plan, { showHidden: true }) + JSON.stringify(plan)).not.toContain("hunter2");
});

test.each<[string, Volume, string]>([
  [
    "an empty disk under 1 MiB",
    { name: "n", emptyDisk: { capacity: "1M" } },
    "spec.volumes[0].emptyDisk.capacity",
  ],
  [
    "a capacity that is not a quantity",
    { name: "n", emptyDisk: { capacity: "lots" } },
    "spec.volumes[0].emptyDisk.capacity",
  ],
  [
    "a label of 33 letters",
    { name: "s", secret: { volumeLabel: "x".repeat(33) } },
    "spec.volumes[0].secret.volumeLabel",
  ],
  ["a name that is a path", { name: "../../etc/x", emptyDisk: { capacity: "1Gi" } }, "../../etc/x"],
  ["a name that is a directory", { name: "..", containerDisk: { image: "x" } }, ".."],
])("rejects %s", (_, volume, path) => {
  expect(() => planDisks(vmi([volume]))).toThrow(
    expect.objectContaining({ code: "DISK_VMI_INVALID", path }),
  );
});
