import { describe, expect, test } from "vitest";
import { type Changes, domainWith, errorPath } from "../testing/conversion.ts";

const annotations = { "kubevirt.io/placePCIDevicesOnRootComplex": "true" };

function disks(count: number, pciAddress?: string): Changes {
  const names = Array.from({ length: count }, (_, at) => `d${at}`);
  const bus = { bus: "virtio", ...(pciAddress ? { pciAddress } : {}) };
  return {
    annotations,
    devices: { disks: names.map((name) => ({ name, disk: bus })) },
    spec: { volumes: names.map((name) => ({ name, emptyDisk: { capacity: "1Gi" } })) },
  };
}

describe("placement on the root bus", () => {
  test("numbers every PCI device from slot 2, controllers first", () => {
    const { controllers, disks: found, memballoon } = domainWith(disks(1)).devices;
    const slots = [...controllers, ...found, memballoon].map((device) => device?.address?.slot);
    expect(slots).toEqual(["0x02", "0x03", "0x04", "0x05", "0x06"]);
  });

  test("skips the slots that QEMU uses", () => {
    const slots = domainWith(disks(24)).devices.disks.map(({ address }) => address?.slot);
    expect(slots).not.toContain("0x1b");
    expect(slots.slice(-3)).toEqual(["0x1a", "0x1c", "0x1d"]);
  });

  test("keeps addresses from the VMI", () => {
    const [disk] = domainWith(disks(1, "0000:00:09.0")).devices.disks;
    expect(disk?.address?.slot).toBe("0x09");
  });

  test("fails once the bus is full", () => {
    expect(errorPath(disks(25))).toBe(
      'metadata.annotations["kubevirt.io/placePCIDevicesOnRootComplex"]',
    );
  });

  test("is not for s390x", () => {
    const [disk] = domainWith({ ...disks(1), architecture: "s390x" }).devices.disks;
    expect(disk?.address).toBeUndefined();
  });
});
