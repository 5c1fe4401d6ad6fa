import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { movingVmi } from "./moving-vmi.ts";

const mac = "52:54:00:12:34:56";
const facts = { config: clusterConfig(), migrationUID: "m-1" };
const status = { interfaces: [{ name: "default", mac, ips: [] }] };

function vmiWith(
  devices: NonNullable<VirtualMachineInstance["spec"]["domain"]["devices"]>,
  volumes: VirtualMachineInstance["spec"]["volumes"] = [],
): VirtualMachineInstance {
  return {
    metadata: { name: "demo", uid: "vmi-1" },
    spec: {
      domain: { devices: { interfaces: [{ name: "default", masquerade: {} }], ...devices } },
      networks: [{ name: "default", pod: {} }],
      volumes,
    },
  };
}

test("a guest keeps its MAC, and its overlay is copied", () => {
  const volumes = [{ name: "root", containerDisk: { image: "demo" } }];
  const { vmi, obstacle } = movingVmi(vmiWith({}, volumes), status, facts);
  expect(obstacle).toBeUndefined();
  expect(vmi.spec.domain.devices?.interfaces?.[0]?.macAddress).toBe(mac);
  expect(vmi.status).toMatchObject({
    migrationMethod: "BlockMigration",
    migrationState: { migrationUid: "m-1" },
  });
});

test("shares claims and host disks, which both sandboxes see, and names one that is copied", () => {
  const volumes = [
    { name: "data", persistentVolumeClaim: { claimName: "data" } },
    { name: "host", hostDisk: { path: "/disks/a.img", type: "Disk" } },
  ];
  const given = vmiWith({}, volumes);
  const { vmi, obstacle } = movingVmi(given, status, facts);
  expect(obstacle).toBeUndefined();
  expect(vmi.status?.migrationMethod).toBe("LiveMigration");
  expect(vmi.status?.volumeStatus).toBeUndefined();
  const copied = movingVmi(given, status, { ...facts, copied: ["data"] });
  expect(copied.vmi.status?.migratedVolumes).toMatchObject([{ volumeName: "data" }]);
  expect(copied.vmi.status?.migrationMethod).toBe("BlockMigration");
});

test.each([
  ["InterfaceNotLiveMigratable", { interfaces: [{ name: "default", bridge: {} }] }],
  ["HostDeviceNotLiveMigratable", { hostDevices: [{ name: "nvme", deviceName: "a/b" }] }],
])("reports a guest that KubeVirt would not move: %s", (reason, devices) => {
  expect(movingVmi(vmiWith(devices), status, facts).obstacle?.reason).toBe(reason);
});
