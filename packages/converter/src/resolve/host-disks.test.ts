import type { PersistentVolumeClaimInfo, VolumeStatus } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { smallVmi } from "../testing/conversion.ts";
import { withHostDisks } from "./host-disks.ts";

function prepared(
  info: PersistentVolumeClaimInfo,
  status: Partial<VolumeStatus> = {},
  devices = {},
): object | undefined {
  const vmi = smallVmi({
    devices,
    spec: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] },
    status: {
      volumeStatus: [{ name: "v", target: "", persistentVolumeClaimInfo: info, ...status }],
    },
  });
  const before = structuredClone(vmi);
  const result = withHostDisks(vmi);
  expect(vmi).toEqual(before);
  return result.spec.volumes?.[0];
}

const sized = { capacity: { storage: "2Gi" } };

describe("withHostDisks", () => {
  test("puts an image on a claim, of the requested size if that is smaller, in whole MiB", () => {
    const info = { ...sized, requests: { storage: "1000000000" }, accessModes: ["ReadWriteMany"] };
    expect(prepared(info)).toEqual({
      name: "v",
      hostDisk: {
        path: "/var/run/kubevirt-private/vmi-disks/v/disk.img",
        type: "DiskOrCreate",
        capacity: "953Mi",
        shared: true,
      },
    });
  });

  test("writes the size in the claim's format", () => {
    const requests = { storage: "1400000001" };
    expect(prepared({ capacity: { storage: "1500M" }, requests })).toMatchObject({
      hostDisk: { capacity: "1399848960" },
    });
    expect(prepared({ requests })).toMatchObject({ hostDisk: { capacity: "1399848960" } });
  });

  test("treats a volume with several statuses as hotplugged if one says so", () => {
    const persistentVolumeClaim = { claimName: "c" };
    const volumeStatus = [
      { name: "v", target: "", hotplugVolume: {} },
      { name: "v", target: "", persistentVolumeClaimInfo: sized },
    ];
    const spec = { volumes: [{ name: "v", persistentVolumeClaim }] };
    expect(withHostDisks(smallVmi({ spec, status: { volumeStatus } })).spec.volumes).toEqual(
      spec.volumes,
    );
  });

  test("treats a missing name as empty", () => {
    const spec = { volumes: [{ persistentVolumeClaim: { claimName: "c" } }] } as never;
    const status = { volumeStatus: [{ persistentVolumeClaimInfo: sized }] } as never;
    expect(withHostDisks(smallVmi({ spec, status })).spec.volumes?.[0]?.hostDisk?.path).toBe(
      "/var/run/kubevirt-private/vmi-disks//disk.img",
    );
  });

  test.each([
    ["block devices", { ...sized, volumeMode: "Block" }, {}, {}],
    ["hotplugged volumes", sized, { hotplugVolume: {} }, {}],
    ["shared file systems", sized, {}, { filesystems: [{ name: "v", virtiofs: {} }] }],
  ])("leaves %s as they are", (_what, info, status, devices) => {
    expect(prepared(info, status, devices)).toHaveProperty("persistentVolumeClaim");
  });

  test.each([{}, { capacity: { storage: "1k" } }])("fails with the size %j", (info) => {
    expect(() => prepared(info)).toThrow(expect.objectContaining({ path: "spec.volumes[0]" }));
  });
});
