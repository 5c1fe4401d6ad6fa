import type { Disk, Volume } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { type Changes, domainWith, errorPath } from "../testing/conversion.ts";

const privateDir = "/var/run/kubevirt-private";

function withVolume(
  volume: Partial<Volume>,
  context: Changes["context"] = {},
  disk: Partial<Disk> = { disk: { bus: "virtio" } },
): Changes {
  return {
    context,
    devices: { disks: [{ name: "v", ...disk }] },
    spec: {
      volumes: [
        { name: "other", emptyDisk: { capacity: "1Gi" } },
        { name: "v", ...volume },
      ],
    },
  };
}

function disk(...given: Parameters<typeof withVolume>): object | undefined {
  return domainWith(withVolume(...given)).devices.disks[0];
}

const claim = { persistentVolumeClaim: { claimName: "c" } };

describe("a volume", () => {
  test.each([
    ["a claim", claim, `${privateDir}/vmi-disks/v/disk.img`],
    ["a DataVolume", { dataVolume: { name: "c" } }, `${privateDir}/vmi-disks/v/disk.img`],
    [
      "a host disk",
      { hostDisk: { path: "/data/x.img", type: "Disk" } },
      `${privateDir}/vmi-disks/v/x.img`,
    ],
    [
      "a host disk without a file name",
      { hostDisk: { path: "/", type: "Disk" } },
      `${privateDir}/vmi-disks/v`,
    ],
    [
      "a host disk without a path",
      { hostDisk: { path: "", type: "Disk" } },
      `${privateDir}/vmi-disks/v`,
    ],
    [
      "cloud-init",
      { cloudInitNoCloud: {} },
      "/var/run/kubevirt-ephemeral-disks/cloud-init-data/ns/vm/noCloud.iso",
    ],
    [
      "a config drive",
      { cloudInitConfigDrive: {} },
      "/var/run/kubevirt-ephemeral-disks/cloud-init-data/ns/vm/configdrive.iso",
    ],
    ["sysprep", { sysprep: {} }, `${privateDir}/sysprep-disks/v.iso`],
    ["a ConfigMap", { configMap: {} }, `${privateDir}/config-map-disks/v.iso`],
    ["a Secret", { secret: {} }, `${privateDir}/secret-disks/v.iso`],
    ["the downward API", { downwardAPI: {} }, `${privateDir}/downwardapi-disks/v.iso`],
    [
      "a service account",
      { serviceAccount: {} },
      `${privateDir}/service-account-disk/service-account.iso`,
    ],
  ])("of %s is a raw file", (_what, volume, file) => {
    expect(disk(volume)).toMatchObject({ type: "file", driver: { type: "raw" }, source: { file } });
  });

  test("that is a block device is also one in the launcher", () => {
    expect(disk(claim, { isBlockPVC: { v: true } })).toMatchObject({
      type: "block",
      source: { dev: "/dev/v", name: "v" },
      driver: { type: "raw", discard: "unmap" },
    });
  });

  test("that is fully allocated gives no space back", () => {
    expect(disk(claim, { volumesDiscardIgnore: ["v"] })).not.toHaveProperty(
      "driver.discard",
      "unmap",
    );
  });

  test("of a container disk is an overlay on the image, by the volume's position", () => {
    expect(
      disk({ containerDisk: { image: "i" } }, { disksInfo: { v: { format: "raw" } } }),
    ).toMatchObject({
      driver: { type: "qcow2", discard: "unmap" },
      source: { file: "/var/run/kubevirt-ephemeral-disks/disk-data/v/disk.qcow2" },
      backingStore: {
        type: "file",
        format: { type: "raw" },
        source: { file: "/var/run/kubevirt/container-disks/disk_1.img" },
      },
    });
    expect(errorPath(withVolume({ containerDisk: { image: "i" } }))).toBe("disksInfo.v");
  });

  test.each([
    [false, { type: "file", source: { file: `${privateDir}/vmi-disks/v/disk.img` } }],
    [true, { type: "block", source: { dev: "/dev/v", name: "v" } }],
  ])("that is ephemeral is an overlay on the claim (block: %j)", (block, backingStore) => {
    expect(disk({ ephemeral: {} }, { isBlockPVC: { v: block } })).toMatchObject({ backingStore });
  });

  test("with a missing name belongs to a disk without one", () => {
    const spec = { volumes: [{ persistentVolumeClaim: { claimName: "c" } }] } as never;
    const devices = { disks: [{ disk: { bus: "virtio" } }] } as never;
    expect(domainWith({ spec, devices }).devices.disks[0]?.source.file).toBe(
      `${privateDir}/vmi-disks//disk.img`,
    );
  });

  test("that is empty is a qcow2 file", () => {
    expect(disk({ emptyDisk: { capacity: "1Gi" } })).toMatchObject({
      driver: { type: "qcow2" },
      source: { file: "/var/run/libvirt/empty-disks/v.qcow2" },
    });
  });

  test("of metrics is a plain virtio disk, whatever the VMI says", () => {
    expect(
      disk({ downwardMetrics: {} }, {}, { disk: { bus: "virtio" }, cache: "writeback" }),
    ).toMatchObject({
      readonly: true,
      driver: { name: "qemu", type: "raw", errorPolicy: "stop" },
      source: { file: `${privateDir}/downwardapi-disks/vhostmd0` },
    });
  });

  test.each([
    [claim, { applyCBT: { v: "/cbt" } }, { file: `${privateDir}/vmi-disks/v/disk.img` }, "file"],
    [claim, { applyCBT: { v: "/cbt" }, isBlockPVC: { v: true } }, { dev: "/dev/v" }, "block"],
    [
      { hostDisk: { path: "/x/y.img", type: "Disk" } },
      { applyCBT: { v: "/cbt" } },
      { file: `${privateDir}/vmi-disks/v/y.img` },
      "file",
    ],
  ])("that tracks changes is an overlay over its data: %j %j", (volume, context, source, type) => {
    expect(disk(volume, context)).toMatchObject({
      type: "file",
      driver: { type: "qcow2" },
      source: { file: "/cbt", dataStore: { type, format: { type: "raw" }, source } },
    });
  });

  const hotplug = (phase: string): Changes["context"] => ({
    hotplugVolumes: { v: { name: "v", target: "", phase } },
    permanentVolumes: { other: { name: "other", target: "" } },
  });

  test("that was plugged in has another path", () => {
    expect(disk(claim, hotplug("Ready"))).toMatchObject({
      source: { file: "/var/run/kubevirt/hotplug-disks/v.img" },
    });
    expect(disk(claim, { ...hotplug("MountedToPod"), isBlockPVC: { v: true } })).toMatchObject({
      source: { dev: "/var/run/kubevirt/hotplug-disks/v" },
    });
    expect(disk(claim, { ...hotplug("Ready"), applyCBT: { v: "/cbt" } })).toMatchObject({
      source: {
        file: "/cbt",
        dataStore: { source: { file: "/var/run/kubevirt/hotplug-disks/v.img" } },
      },
    });
  });

  test.each(["Pending", "AttachedToNode"])(
    "that is not present yet (%s) makes no disk",
    (phase) => {
      expect(disk(claim, hotplug(phase))).toBeUndefined();
    },
  );

  test("that cannot be a disk fails", () => {
    expect(errorPath(withVolume({ memoryDump: { claimName: "c" } }))).toBe("spec.volumes[1]");
    expect(errorPath(withVolume({ configMap: {} }, hotplug("Ready")))).toBe("spec.volumes[1]");
  });
});
