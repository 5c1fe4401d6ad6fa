import { expect, test } from "vitest";
import { type Change, type ClusterOptions, verdict } from "../testing/verdict.ts";

/** A VMI with those volumes, each shown by a disk. */
const volumes = (...all: Change[]): Change => {
  const names = [...new Set(all.map((volume) => volume["name"]))];
  return {
    volumes: all,
    domain: { devices: { disks: names.map((name) => ({ name, disk: {} })) } },
  };
};
const one = (source: Change): Change => volumes({ name: "v", ...source });
const at = "spec.volumes[0]";

test.each<[Change, string[]]>([
  [one({ emptyDisk: { capacity: "1Gi" } }), []],
  [one({}), [`Invalid ${at}`]],
  [one({ emptyDisk: { capacity: "1Gi" }, secret: { secretName: "s" } }), [`Invalid ${at}`]],
  [
    volumes({ name: "v", emptyDisk: { capacity: 1 } }, { name: "v", emptyDisk: { capacity: 1 } }),
    ["Invalid spec.volumes[1].name"],
  ],
  [one({ dataVolume: { name: "" } }), [`Required ${at}.name`]],
  [one({ configMap: {} }), [`Invalid ${at}.configMap.name`]],
  [one({ secret: {} }), [`Invalid ${at}.secret.secretName`]],
  [one({ serviceAccount: {} }), [`Invalid ${at}.serviceAccount.serviceAccountName`]],
  [
    volumes(
      { name: "a", serviceAccount: { serviceAccountName: "s" } },
      { name: "b", serviceAccount: { serviceAccountName: "s" } },
    ),
    ["Invalid spec.volumes"],
  ],
  [
    volumes(
      { name: "a", memoryDump: { claimName: "c" } },
      { name: "b", memoryDump: { claimName: "c" } },
    ),
    ["Invalid spec.volumes"],
  ],
  [one({ containerDisk: { image: "i", path: "/disk/image.qcow2" } }), []],
  [one({ containerDisk: { image: "i", path: "/" } }), [`Invalid ${at}.containerDisk`]],
  [one({ containerDisk: { image: "i", path: "../x" } }), [`Invalid ${at}.containerDisk`]],
  [{ utilityVolumes: [] }, ["Invalid spec.utilityVolumes"]],
])("%j: %j", (change, expected) => {
  expect(verdict(change)).toEqual(expected);
});

const host = (change: Change): Change => one({ hostDisk: { path: "/d", type: "Disk", ...change } });
const open: ClusterOptions = { gates: ["HostDisk", "DownwardMetrics"] };

test.each<[Change, ClusterOptions, string[]]>([
  [host({}), open, []],
  [host({}), {}, [`Invalid ${at}`]],
  [host({ path: "" }), open, [`NotFound ${at}.hostDisk.path`]],
  [host({ type: "Tape" }), open, [`Invalid ${at}.hostDisk.type`]],
  [host({ capacity: "1Gi" }), open, [`Invalid ${at}.hostDisk.capacity`]],
  [host({ capacity: "1Gi", type: "DiskOrCreate" }), open, []],
  [one({ downwardMetrics: {} }), {}, [`Invalid ${at}`]],
  [
    volumes({ name: "a", downwardMetrics: {} }, { name: "b", downwardMetrics: {} }),
    open,
    ["Invalid spec.volumes"],
  ],
])("%j %j: %j", (change, options, expected) => {
  expect(verdict(change, options)).toEqual(expected);
});
