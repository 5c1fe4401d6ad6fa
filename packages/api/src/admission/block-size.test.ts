import { expect, test } from "vitest";
import { type Change, verdict } from "../testing/verdict.ts";

const at = "spec.domain.devices.disks[0]";

/** A VMI whose only disk is the given one, on a claim. */
const one = (disk: Change, name = "d"): Change => ({
  domain: { devices: { disks: [{ name, ...disk }] } },
  volumes: [{ name, persistentVolumeClaim: { claimName: "c" } }],
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
