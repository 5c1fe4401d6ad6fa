import { expect, test } from "vitest";
import { type Change, verdict } from "../testing/verdict.ts";

const at = "spec.domain.devices.disks[0]";
const odd = "spec.domain.devices.disks.domain.devices.disks";

/** A machine whose only disk is the given one, on a claim. */
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

test("no two disks have one name", () => {
  const disks = [{ name: "root" }, { name: "root" }, { name: "root" }];
  expect(verdict({ domain: { devices: { disks } } })).toEqual([
    "Invalid spec.domain.devices.disks[1].name",
    "Invalid spec.domain.devices.disks[2].name",
  ]);
});

const size = (logical: unknown, physical: unknown, rest: Change = {}): Change => ({
  blockSize: { custom: { logical, physical, ...rest } },
});
const custom = `Invalid ${at}.blockSize.custom`;

test.each<[Change, string[]]>([
  [size(512, 4096), []],
  [size(512, 4096, { discardGranularity: 1024 }), []],
  [{ blockSize: { matchVolume: {} } }, []],
  [
    { blockSize: { custom: { logical: 1, physical: 1 }, matchVolume: { enabled: false } } },
    [`${custom}.logical`, `${custom}.physical`],
  ],
  [
    { blockSize: { custom: { logical: 512, physical: 512 }, matchVolume: {} } },
    [`Invalid ${at}.blockSize`],
  ],
  [size(4096, 512), [`${custom}.logical`]],
  [{ ...size(4096, 4096), disk: { bus: "sata" } }, [`${custom}.logical`]],
  [size(1024, 4096, { discardGranularity: 512 }), [`${custom}.discardGranularity`]],
  [size(256, 4096), [`${custom}.logical`]],
  [size(512, 4 << 20), [`${custom}.physical`]],
  [size(513, 1000), [`${custom}.logical`, `${custom}.physical`]],
  [size(undefined, undefined), [`${custom}.logical`, `${custom}.physical`]],
])("block size %j: %j", (disk, expected) => {
  expect(verdict(one(disk))).toEqual(expected);
});
