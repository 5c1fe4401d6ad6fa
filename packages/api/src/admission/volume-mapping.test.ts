import { expect, test } from "vitest";
import { type Change, verdict } from "../testing/verdict.ts";

const machine = (volume: Change, devices: Change): Change => ({
  volumes: [{ name: "v", ...volume }],
  domain: { devices: { disks: [], ...devices } },
});
const disk: Change = { disks: [{ name: "v" }] };
const filesystem: Change = { filesystems: [{ name: "v", virtiofs: {} }] };
const image: Change = { containerDisk: { image: "i" } };
const inside = (path: string): Change => ({ containerPath: { path } });
const at = "Invalid spec.domain.volumes[0]";

test.each<[Change, string[]]>([
  [machine(image, disk), []],
  [machine({ configMap: { name: "c" } }, filesystem), []],
  [machine(image, {}), [`${at}.name`]],
  [machine({ memoryDump: { claimName: "c" } }, {}), []],
  [machine(inside("/data"), filesystem), []],
  [machine(inside("/data"), disk), [at, at]],
  [machine(inside("/data"), {}), [`${at}.name`, at]],
  [machine(inside("/var/run/kubevirt-x"), filesystem), [`${at}.containerPath.path`]],
  [machine(inside("/var/run/libvirt/qemu"), filesystem), [`${at}.containerPath.path`]],
])("%j: %j", (change, expected) => {
  expect(verdict(change)).toEqual(expected);
});
