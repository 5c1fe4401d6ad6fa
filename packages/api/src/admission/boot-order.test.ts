import { expect, test } from "vitest";
import { type Change, type ClusterOptions, verdict } from "../testing/verdict.ts";

const at = "spec.domain.devices";
const vmiOf = (
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
  [vmiOf([{ name: "a" }], []), {}, [`Invalid ${at}.disks[0].name`]],
  [vmiOf([{ name: "a", cdrom: {} }], []), {}, []],
  [
    vmiOf([{ name: "a", cdrom: {} }], []),
    { disabled: ["DeclarativeHotplugVolumes"] },
    [`Invalid ${at}.disks[0].name`],
  ],
  [vmiOf([{ name: "a", lun: {} }], [claim("a")]), {}, []],
  [vmiOf([{ name: "a", lun: {} }], [{ name: "a", dataVolume: { name: "d" } }]), {}, []],
  [vmiOf([{ name: "a", lun: {} }], [image("a")]), {}, [`Invalid ${at}.disks[0].lun`]],
  [vmiOf([{ name: "a", disk: {} }], [metrics("a")]), open, []],
  [
    vmiOf([{ name: "a", disk: { bus: "scsi" } }], [metrics("a")]),
    open,
    [`Invalid ${at}.disks[0].disk.bus`],
  ],
  [vmiOf([{ name: "a", cdrom: {} }], [metrics("a")]), open, [`Required ${at}.disks[0].disk`]],
  [
    vmiOf(
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
    vmiOf(
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
