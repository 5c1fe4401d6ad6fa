import type { Disk } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { type Changes, domainWith, errorPath } from "../testing/conversion.ts";

function withDisks(disks: Disk[], changes: Changes = {}): Changes {
  const volumes = disks
    .filter(({ name }) => name !== "none")
    .map(({ name }) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return { ...changes, devices: { disks }, spec: { volumes } };
}

const virtio = { disk: { bus: "virtio" } };

describe("disks", () => {
  test("without a volume are empty drives, or an error", () => {
    const cdrom = withDisks([{ name: "none", cdrom: { bus: "sata" } }]);
    expect(domainWith(cdrom).devices.disks[0]).toMatchObject({
      type: "block",
      source: {},
      driver: { type: "raw", discard: "unmap" },
    });
    expect(errorPath(withDisks([{ name: "none", ...virtio }]))).toBe(
      "spec.domain.devices.disks[0].name",
    );
  });

  test("are left out until their volume is present", () => {
    const context = { permanentVolumes: { a: { name: "a", target: "" } } };
    const list = [
      { name: "a", ...virtio },
      { name: "b", ...virtio },
    ];
    const found = domainWith(withDisks(list, { context })).devices.disks;
    expect(found.map(({ alias }) => alias?.name)).toEqual(["ua-a"]);
    expect(domainWith(withDisks(list)).devices.disks).toHaveLength(2);
  });

  test("know how far they can grow", () => {
    const info = {
      filesystemOverhead: "0.055",
      capacity: { storage: "2Gi" },
      requests: { storage: "1Gi" },
    };
    const status = (persistentVolumeClaimInfo: object): Changes => ({
      status: { volumeStatus: [{ name: "a", target: "", persistentVolumeClaimInfo }] },
    });
    const disk = (given: object, kind: object = virtio): object | undefined =>
      domainWith(withDisks([{ name: "a", ...kind }], status(given))).devices.disks[0];
    expect(disk(info)).toMatchObject({ filesystemOverhead: "0.055", capacity: 1073741824 });
    expect(disk({ capacity: { storage: "2Gi" } })).not.toHaveProperty("capacity", 2147483648);
    expect(disk(info, { cdrom: {} })).not.toHaveProperty("capacity", 1073741824);
  });

  test("on virtio share threads in turn, before those with their own", () => {
    const list: Disk[] = [
      { name: "a", ...virtio },
      { name: "b", ...virtio, dedicatedIOThread: true },
      { name: "c", ...virtio },
      { name: "d", disk: { bus: "sata" } },
      { name: "e", ...virtio },
    ];
    const domain = { ioThreadsPolicy: "auto", resources: { requests: { cpu: "1500m" } } };
    const found = domainWith(withDisks(list, { domain }));
    expect(found.iothreads).toBe(4);
    expect(found.devices.disks.map(({ driver }) => driver?.iothread)).toEqual([
      1,
      4,
      2,
      undefined,
      3,
    ]);
  });

  test("on virtio share the entire pool", () => {
    const domain = {
      ioThreadsPolicy: "supplementalPool",
      ioThreads: { supplementalPoolThreadCount: 2 },
    };
    const [disk] = domainWith(withDisks([{ name: "a", ...virtio }], { domain })).devices.disks;
    expect(disk?.driver?.iothreads).toEqual({ iothread: [{ id: 1 }, { id: 2 }] });
  });
});
