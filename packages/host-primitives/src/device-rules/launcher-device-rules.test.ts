import { expect, test } from "vitest";
import {
  type DeviceDirectory,
  type DeviceEntry,
  launcherDeviceRules,
} from "./launcher-device-rules.ts";
import { volumesFromStart } from "./vmi-volumes.ts";

const char = (major: number, minor: number): DeviceEntry => ({ type: "char", major, minor });
const block = (major: number, minor: number): DeviceEntry => ({ type: "block", major, minor });

function table(files: Readonly<Record<string, DeviceEntry | Error>>): DeviceDirectory {
  const list: DeviceDirectory["list"] = (path) => {
    const names = new Map<string, boolean>();
    for (const file of Object.keys(files)) {
      if (!file.startsWith(`${path}/`)) continue;
      const [name = "", ...deeper] = file.slice(path.length + 1).split("/");
      names.set(name, deeper.length > 0);
    }
    return names.size === 0
      ? undefined
      : [...names].map(([name, directory]) => ({ name, directory }));
  };
  return {
    list,
    stat(path) {
      const entry = files[path];
      if (entry instanceof Error) throw entry;
      return entry;
    },
  };
}

const plain = { volumes: [], hypervisor: "kvm", version: "v2" } as const;
const numbers = (rules: readonly { type: string; major: number; minor: number }[]): string[] =>
  rules.map(({ type, major, minor }) => `${type} ${major}:${minor}`);

test("volumes, random numbers, vsock, the hypervisor and assigned devices get a rule, in this order", () => {
  const rules = launcherDeviceRules(
    { ...plain, volumes: ["b", "a", "file", "absent"], randomNumbers: true, vsock: true },
    table({
      "/dev/a": block(8, 1),
      "/dev/b": block(8, 2),
      "/dev/file": { type: "other" },
      "/dev/urandom": char(1, 9),
      "/dev/vhost-vsock": char(10, 241),
      "/dev/kvm": char(10, 232),
      "/dev/bus/usb/001/002": char(189, 1),
      "/dev/vfio/vfio": char(10, 196),
      "/dev/vfio/10": char(240, 1),
      "/dev/vfio/9": char(240, 0),
      "/dev/vfio/readme": { type: "other" },
    }),
  );
  expect(numbers(rules)).toEqual([
    "b 8:2",
    "b 8:1",
    "c 1:9",
    "c 10:241",
    "c 10:232",
    "c 240:1",
    "c 240:0",
    "c 10:196",
    "c 189:1",
  ]);
});

test("only the hypervisor's rule differs between the cgroup versions", () => {
  const files = table({ "/dev/kvm": char(10, 232), "/dev/d": block(8, 1) });
  const rules = launcherDeviceRules({ ...plain, version: "v1", volumes: ["d"] }, files);
  expect(rules.map(({ permissions }) => permissions)).toEqual(["rwm", "rw"]);
});

test.each([
  [{ ...plain }, "/dev/kvm"],
  [{ ...plain, allowEmulation: true, randomNumbers: true }, "/dev/urandom"],
  [{ ...plain, allowEmulation: true, vsock: true }, "/dev/vhost-vsock"],
])("fails without a device that the VMI names", (devices, path) => {
  expect(() => launcherDeviceRules(devices, table({}))).toThrow(expect.objectContaining({ path }));
});

test("with emulation the hypervisor's device may be missing or unreadable", () => {
  const broken = table({ "/dev/kvm": new Error("stat failed") });
  expect(launcherDeviceRules({ ...plain, allowEmulation: true }, broken)).toEqual([]);
  expect(() => launcherDeviceRules(plain, broken)).toThrow("stat failed");
});

test("stops at a maximum depth of directories", () => {
  const endless: DeviceDirectory = {
    stat: () => char(10, 232),
    list: () => [{ name: "again", directory: true }],
  };
  expect(() => launcherDeviceRules(plain, endless)).toThrow(
    expect.objectContaining({ code: "HOST_LIMIT_EXCEEDED" }),
  );
});

const volumes = [
  { name: "pvc", persistentVolumeClaim: {} },
  { name: "dv", dataVolume: {} },
  { name: "eph", ephemeral: {} },
  { name: "host", hostDisk: {} },
  { name: "plugged", persistentVolumeClaim: { hotpluggable: true } },
];

test("leaves out hotplugged volumes and those that are never devices", () => {
  expect(volumesFromStart({ spec: { volumes } }, "node01")).toEqual(["pvc", "dv", "eph"]);
});

const migratedVolumes = [
  { volumeName: "host", sourcePVCInfo: { volumeMode: "Block" } },
  { volumeName: "plugged", sourcePVCInfo: { volumeMode: "Block" } },
  { volumeName: "pvc", sourcePVCInfo: { volumeMode: "Filesystem" } },
];

test.each([
  [undefined, ["pvc", "dv", "eph", "host"]],
  [{ sourceNode: "node01" }, ["pvc", "dv", "eph", "host"]],
  [{ sourceNode: "node02" }, ["pvc", "dv", "eph"]],
  [{}, ["pvc", "dv", "eph"]],
])(
  "a migrating block volume stays a device on its source node (%j)",
  (migrationState, expected) => {
    const status = { migratedVolumes, ...(migrationState && { migrationState }) };
    expect(volumesFromStart({ spec: { volumes }, status }, "node01")).toEqual(expected);
  },
);
