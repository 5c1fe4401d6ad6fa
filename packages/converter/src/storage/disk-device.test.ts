import type { Disk } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { type Changes, domainWith, errorPath } from "../testing/conversion.ts";

function withDisk(disk: Partial<Disk>, changes: Changes = {}): Changes {
  return {
    ...changes,
    devices: { ...changes.devices, disks: [{ name: "d", ...disk }] },
    spec: { volumes: [{ name: "d", emptyDisk: { capacity: "1Gi" } }] },
  };
}

function diskWith(disk: Partial<Disk>, changes: Changes = {}): object | undefined {
  return domainWith(withDisk(disk, changes)).devices.disks[0];
}

describe("a disk", () => {
  test("on virtio has a model, a name and an alias", () => {
    expect(
      diskWith({
        disk: { bus: "virtio" },
        serial: "S",
        bootOrder: 1,
        cache: "writeback",
        io: "threads",
      }),
    ).toMatchObject({
      device: "disk",
      model: "virtio-non-transitional",
      driver: {
        name: "qemu",
        cache: "writeback",
        io: "threads",
        discard: "unmap",
        errorPolicy: "stop",
      },
      target: { dev: "vda", bus: "virtio" },
      serial: "S",
      boot: { order: 1 },
      alias: { name: "ua-d" },
    });
  });

  test("on SCSI uses the single controller", () => {
    expect(diskWith({ disk: { bus: "scsi" } })).toMatchObject({
      address: { type: "drive", controller: "0", bus: "0", unit: "0" },
    });
  });

  test("has a PCI address only on virtio", () => {
    expect(diskWith({ disk: { bus: "virtio", pciAddress: "0000:81:01.0" } })).toMatchObject({
      address: { type: "pci", bus: "0x81" },
    });
    const path = "spec.domain.devices.disks[0].disk.pciAddress";
    expect(errorPath(withDisk({ disk: { bus: "sata", pciAddress: "0000:81:01.0" } }))).toBe(path);
    expect(errorPath(withDisk({ disk: { bus: "virtio", pciAddress: "1" } }))).toBe(path);
  });

  test("that is shared is not cached", () => {
    expect(diskWith({ disk: { bus: "virtio" }, shareable: true })).toMatchObject({
      shareable: true,
      driver: { cache: "none" },
    });
    const cached = withDisk({ disk: {}, shareable: true, cache: "writeback" });
    expect(errorPath(cached)).toBe("spec.domain.devices.disks[0].cache");
  });

  test("can be a LUN with reservations", () => {
    expect(diskWith({ lun: { bus: "scsi", reservation: true, readonly: true } })).toMatchObject({
      device: "lun",
      readonly: true,
      source: {
        reservations: {
          managed: "no",
          migration: "yes",
          source: {
            type: "unix",
            path: "/var/run/kubevirt/daemons/pr/pr-helper.sock",
            mode: "client",
          },
        },
      },
    });
  });

  test("can be a CD-ROM, read-only by default", () => {
    expect(diskWith({ cdrom: { bus: "sata", tray: "closed" } })).toMatchObject({
      device: "cdrom",
      readonly: true,
      target: { dev: "sda", bus: "sata", tray: "closed" },
    });
    expect(diskWith({ cdrom: { bus: "sata", readonly: false } })).not.toHaveProperty(
      "readonly",
      true,
    );
  });

  test("has a queue for each CPU on request, on virtio", () => {
    const devices = { blockMultiQueue: true };
    const domain = { cpu: { cores: 4 } };
    expect(diskWith({ disk: { bus: "virtio" } }, { devices, domain })).toMatchObject({
      driver: { queues: 4 },
    });
    expect(diskWith({ disk: { bus: "sata" } }, { devices, domain })).not.toHaveProperty(
      "driver.queues",
      4,
    );
  });

  test("has a known error policy", () => {
    expect(diskWith({ disk: {}, errorPolicy: "report" })).toMatchObject({
      driver: { errorPolicy: "report" },
    });
    const path = "spec.domain.devices.disks[0].errorPolicy";
    expect(errorPath(withDisk({ disk: {}, errorPolicy: "retry" }))).toBe(path);
  });
});
