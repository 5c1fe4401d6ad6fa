import type { Devices, Disk } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { type Changes, domainWith } from "../testing/conversion.ts";

function controller(type: string, changes: Changes): object | undefined {
  return domainWith(changes).devices.controllers.find((one) => one.type === type);
}

/** Disks with volumes of their own. */
function withDisks(disks: Disk[], devices: Devices = {}): Changes {
  const volumes = disks.map(({ name }) => ({ name, emptyDisk: { capacity: "1Gi" } }));
  return { devices: { ...devices, disks }, spec: { volumes } };
}

describe("controllers", () => {
  test.each([
    ["an input", { devices: { inputs: [{ name: "i", type: "tablet" }] } }],
    ["a USB disk", withDisks([{ name: "d", disk: { bus: "usb" } }])],
    ["a client's devices", { devices: { clientPassthrough: {} } }],
    ["a USB host device", { context: { genericHostDevices: [{ Type: "usb", Source: {} }] } }],
    ["arm64", { architecture: "arm64" }],
  ])("have USB for %s", (_what, changes) => {
    expect(controller("usb", changes)).toMatchObject({ model: "qemu-xhci" });
  });

  test.each([
    ["nothing", {}],
    ["a virtio input", { devices: { inputs: [{ name: "i", type: "tablet", bus: "virtio" }] } }],
    ["s390x", { architecture: "s390x", devices: { clientPassthrough: {} } }],
  ])("have no USB for %s", (_what, changes) => {
    expect(controller("usb", changes)).toMatchObject({ model: "none" });
  });

  test("have SCSI for hotplug, or for a disk on it", () => {
    const off = { disableHotplug: true };
    expect(controller("scsi", {})).toBeDefined();
    expect(controller("scsi", { devices: off })).toBeUndefined();
    expect(
      controller("scsi", withDisks([{ name: "d", cdrom: { bus: "scsi" } }], off)),
    ).toBeDefined();
  });

  test("give SCSI the next I/O thread in turn, if a disk on it wants one", () => {
    const disks: Disk[] = [
      { name: "a", disk: { bus: "virtio" } },
      { name: "b", disk: { bus: "virtio" } },
      { name: "c", disk: { bus: "scsi" }, dedicatedIOThread: true },
    ];
    const changes = { ...withDisks(disks), domain: { ioThreadsPolicy: "auto", cpu: { cores: 2 } } };
    expect(controller("scsi", changes)).toMatchObject({ driver: { iothread: 1, queues: 2 } });
    expect(controller("scsi", withDisks(disks.slice(0, 2)))).not.toHaveProperty("driver.iothread");
  });

  test("turn off the 64-bit PCI window on x86 if the annotation asks for it", () => {
    const annotations = { "kubevirt.io/disablePCIHole64": "True" };
    expect(controller("pci", { annotations })).toMatchObject({
      pcihole64: { unit: "KiB", value: 0 },
    });
    expect(controller("pci", { annotations, architecture: "arm64" })).toBeUndefined();
  });
});
