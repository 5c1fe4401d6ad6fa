import { expect, test } from "vitest";
import { type Change, verdict } from "../testing/verdict.ts";

const vmiOf = (volume: Change, devices: Change): Change => ({
  volumes: [{ name: "v", ...volume }],
  domain: { devices: { disks: [], ...devices } },
});
const disk: Change = { disks: [{ name: "v" }] };
const filesystem: Change = { filesystems: [{ name: "v", virtiofs: {} }] };
const image: Change = { containerDisk: { image: "i" } };
const inside = (path: string): Change => ({ containerPath: { path } });
const at = "Invalid spec.domain.volumes[0]";

test.each<[Change, string[]]>([
  [vmiOf(image, disk), []],
  [vmiOf({ configMap: { name: "c" } }, filesystem), []],
  [vmiOf(image, {}), [`${at}.name`]],
  [vmiOf({ memoryDump: { claimName: "c" } }, {}), []],
  [vmiOf(inside("/data"), filesystem), []],
  [vmiOf(inside("/data"), disk), [at, at]],
  [vmiOf(inside("/data"), {}), [`${at}.name`, at]],
  [vmiOf(inside("/var/run/kubevirt-x"), filesystem), [`${at}.containerPath.path`]],
  [vmiOf(inside("/var/run/libvirt/qemu"), filesystem), [`${at}.containerPath.path`]],
])("%j: %j", (change, expected) => {
  expect(verdict(change)).toEqual(expected);
});
