import { expect, test } from "vitest";
import {
  type Change,
  type ClusterOptions,
  deviceVerdict,
  domainVerdict,
  verdict,
} from "../testing/verdict.ts";

const at = "spec.domain.devices";

test.each<[Change, ClusterOptions, string[]]>([
  [{ sound: { name: "s", model: "ac97" } }, {}, []],
  [{ sound: { name: "s", model: "sb16" } }, {}, ["Invalid spec.Sound"]],
  [{ sound: { name: "" } }, {}, ["Invalid spec.Sound"]],
  [{ video: { type: "virtio" } }, {}, []],
  [{ video: { type: "virtio" }, autoattachGraphicsDevice: false }, {}, ["Invalid spec.video"]],
  [{ panicDevices: [{ model: "isa" }, {}] }, {}, []],
  [{ panicDevices: [{ model: "loud" }] }, {}, [`Invalid ${at}.panicDevices[0].model`]],
  [{ hostDevices: [] }, {}, ["Invalid spec.HostDevices"]],
  [{ hostDevices: [] }, { gates: ["HostDevices"] }, []],
  [{ autoattachVSOCK: true }, {}, [`Invalid ${at}.autoattachVSOCK`]],
  [{ autoattachVSOCK: false }, {}, []],
  [{ autoattachVSOCK: true }, { gates: ["VSOCK"] }, []],
  [{ downwardMetrics: {} }, {}, [`Invalid ${at}.downwardMetrics`]],
  [{ downwardMetrics: {} }, { gates: ["DownwardMetrics"] }, []],
])("%j %j: %j", (devices, options, expected) => {
  expect(deviceVerdict(devices, options)).toEqual(expected);
});

test("s390x reports a panic without a device", () => {
  const domain = { machine: undefined, devices: { panicDevices: [{}] } };
  expect(verdict({ architecture: "s390x", domain })).toEqual([`Invalid ${at}.panicDevices`]);
  expect(verdict({ architecture: "", domain }, { architecture: "s390x" })).toContain(
    `Invalid ${at}.panicDevices`,
  );
});

test.each<[Change[], string[]]>([
  [[{ display: {} }, { display: { enabled: false } }], []],
  [[{ display: {} }, { display: { ramFB: { enabled: false } } }], []],
  [[{ display: {} }, { display: { ramFB: {} } }], []],
  [
    [{ display: {} }, { display: { enabled: true, ramFB: { enabled: true } } }],
    ["Invalid spec.GPUs"],
  ],
])("displays %j: %j", (options, expected) => {
  const gpus = options.map((virtualGPUOptions, i) => ({
    name: `g${i}`,
    deviceName: "n/gpu",
    virtualGPUOptions,
  }));
  expect(deviceVerdict({ gpus })).toEqual(expected);
});

const claim: Change = { volumes: [{ name: "root", persistentVolumeClaim: { claimName: "c" } }] };

test.each<[ClusterOptions, string[]]>([
  [{}, [`Invalid ${at}.disks.luns.reservation`]],
  [{ gates: ["PersistentReservation"] }, []],
  [{ configuration: { persistentReservationConfiguration: { enabled: true } } }, []],
  [
    {
      gates: ["PersistentReservation"],
      configuration: { persistentReservationConfiguration: { enabled: false } },
    },
    [`Invalid ${at}.disks.luns.reservation`],
  ],
])("reservations in a cluster with %j: %j", (options, expected) => {
  const disks = [{ name: "root", lun: { reservation: true } }];
  expect(verdict({ ...claim, domain: { devices: { disks } } }, options)).toEqual(expected);
});

test("sharing a storage volume as a file system needs a feature gate", () => {
  const devices = { disks: [], filesystems: [{ name: "root", virtiofs: {} }] };
  const shared = { ...claim, domain: { devices } };
  expect(verdict(shared)).toEqual([`Invalid ${at}.filesystems`]);
  expect(verdict(shared, { gates: ["EnableVirtioFsStorageVolumes"] })).toEqual([]);
  const config = [{ name: "root", configMap: { name: "c" } }];
  expect(verdict({ domain: { devices }, volumes: config })).toEqual([]);
});

test.each<[Change, ClusterOptions, string[]]>([
  [{ rebootPolicy: "Terminate" }, {}, []],
  [
    { rebootPolicy: "Terminate" },
    { disabled: ["RebootPolicy"] },
    ["Invalid spec.domain.rebootPolicy"],
  ],
  [{ memory: { reservedOverhead: {} } }, {}, ["Invalid spec.domain.memory.reservedOverhead"]],
  [{ memory: { reservedOverhead: {} } }, { gates: ["ReservedOverheadMemlock"] }, []],
])("%j %j: %j", (domain, options, expected) => {
  expect(domainVerdict(domain, options)).toEqual(expected);
});
