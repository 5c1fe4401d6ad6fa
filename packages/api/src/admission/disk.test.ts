import { expect, test } from "vitest";
import { type Change, verdict } from "../testing/verdict.ts";

const at = "spec.domain.devices.disks[0]";
const odd = "spec.domain.devices.disks.domain.devices.disks";

/** A VMI whose only disk is the given one, on a claim. */
const one = (disk: Change, name = "d"): Change => ({
  domain: { devices: { disks: [{ name, ...disk }] } },
  volumes: [{ name, persistentVolumeClaim: { claimName: "c" } }],
});

test.each<[Change, string[]]>([
  [{ disk: { bus: "virtio", pciAddress: "0000:81:01.0", readonly: true } }, []],
  [{}, []],
  [{ disk: {}, cdrom: {} }, [`Invalid ${at}`]],
  [{ disk: { bus: "sata", pciAddress: "0000:81:01.0" } }, [`Invalid ${odd}.disk[0].pciAddress`]],
  [{ disk: { bus: "virtio", pciAddress: "81:01.0" } }, [`Invalid ${odd}.disk[0].pciAddress`]],
  [{ bootOrder: 0 }, [`Invalid ${at}.bootOrder`]],
  [{ disk: { bus: "ide" } }, [`Invalid ${at}.disk.bus`]],
  [{ lun: { bus: "floppy" } }, [`Invalid ${at}.lun.bus`]],
  [{ cdrom: { bus: "virtio" } }, [`Invalid ${at}.cdrom.bus`]],
  [{ cdrom: { bus: "sata" } }, []],
  [{ disk: { bus: "sata", readonly: true } }, [`Invalid ${at}.disk.bus`]],
  [{ disk: { bus: "usb" } }, []],
  [{ disk: { bus: "scsi" }, dedicatedIOThread: true }, [`NotSupported ${odd}[0]`]],
  [{ disk: { bus: "virtio" }, dedicatedIOThread: true }, []],
  [{ disk: {}, dedicatedIOThread: true }, []],
  [{ serial: "A_z.+-9" }, []],
  [{ serial: "no blanks" }, [`Invalid ${at}.serial`]],
  [{ serial: "x".repeat(256) }, []],
  [{ serial: "x".repeat(257) }, [`Invalid ${at}.serial`]],
  [{ serial: "é".repeat(257) }, [`Invalid ${at}.serial`, `Invalid ${at}.serial`]],
  [{ cache: "writeback", io: "threads", errorPolicy: "enospace" }, []],
  [{ cache: "turbo" }, [`Invalid ${at}.cache`]],
  [{ io: "turbo" }, [`NotSupported ${odd}[0].io`]],
  [{ errorPolicy: "" }, [`Invalid ${at}.errorPolicy`]],
])("%j: %j", (disk, expected) => {
  expect(verdict(one(disk))).toEqual(expected);
});

test.each([
  ["Not-a-label", 1],
  [`${"x".repeat(63)}-`, 2],
])("the name %s has %i faults", (name, faults) => {
  const expected = new Array<string>(faults).fill(`Invalid ${odd}[0].name`);
  expect(verdict(one({}, name))).toEqual(expected);
});

test("two disks cannot have the same name", () => {
  const disks = [{ name: "root" }, { name: "root" }, { name: "root" }];
  expect(verdict({ domain: { devices: { disks } } })).toEqual([
    "Invalid spec.domain.devices.disks[1].name",
    "Invalid spec.domain.devices.disks[2].name",
  ]);
});
