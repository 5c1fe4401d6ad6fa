import { expect, test } from "vitest";
import { type Change, type ClusterOptions, verdict } from "../testing/verdict.ts";

const at = "spec.domain.devices";
const machine = (
  disks: readonly Change[],
  volumes: readonly Change[],
  interfaces?: Change[],
): Change => ({
  volumes,
  domain: { devices: { disks, ...(interfaces ? { interfaces } : {}) } },
});
const image = (name: string): Change => ({ name, containerDisk: { image: "i" } });
const claim = (name: string): Change => ({ name, persistentVolumeClaim: { claimName: "c" } });
const metrics = (name: string): Change => ({ name, downwardMetrics: {} });
const open: ClusterOptions = { gates: ["DownwardMetrics"] };

test.each<[Change, ClusterOptions, string[]]>([
  [machine([{ name: "a" }], []), {}, [`Invalid ${at}.disks[0].name`]],
  [machine([{ name: "a", cdrom: {} }], []), {}, []],
  [
    machine([{ name: "a", cdrom: {} }], []),
    { disabled: ["DeclarativeHotplugVolumes"] },
    [`Invalid ${at}.disks[0].name`],
  ],
  [machine([{ name: "a", lun: {} }], [claim("a")]), {}, []],
  [machine([{ name: "a", lun: {} }], [{ name: "a", dataVolume: { name: "d" } }]), {}, []],
  [machine([{ name: "a", lun: {} }], [image("a")]), {}, [`Invalid ${at}.disks[0].lun`]],
  [machine([{ name: "a", disk: {} }], [metrics("a")]), open, []],
  [
    machine([{ name: "a", disk: { bus: "scsi" } }], [metrics("a")]),
    open,
    [`Invalid ${at}.disks[0].disk.bus`],
  ],
  [machine([{ name: "a", cdrom: {} }], [metrics("a")]), open, [`Required ${at}.disks[0].disk`]],
  [
    machine(
      [
        { name: "a", bootOrder: 1 },
        { name: "b", bootOrder: 1 },
      ],
      [image("a"), image("b")],
      [{ name: "default", masquerade: {}, bootOrder: 1 }],
    ),
    {},
    [`Invalid ${at}.disks[1].bootOrder`, `Invalid ${at}.interfaces[0].bootOrder`],
  ],
  [
    machine(
      [{ name: "a", bootOrder: 0 }],
      [image("a")],
      [{ name: "default", masquerade: {}, bootOrder: 0 }],
    ),
    {},
    ["Invalid spec[0].bootOrder", `Invalid ${at}.disks[0].bootOrder`],
  ],
])("%j %j: %j", (change, options, expected) => {
  expect(verdict(change, options)).toEqual(expected);
});
