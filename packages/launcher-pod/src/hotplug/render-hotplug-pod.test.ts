import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstanceStatus } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import type { ExistingPod, Pod } from "../pod/pod.ts";
import { claim, testProfile, testVmi } from "../testing/render.ts";
import { renderHotplugPod } from "./render-hotplug-pod.ts";
import { renderHotplugTriggerPod } from "./render-hotplug-trigger-pod.ts";

const launcherPod: ExistingPod = {
  metadata: { name: "p", namespace: "ns", uid: "uid-p", labels: { a: "1" } },
  spec: {
    nodeName: "node01",
    tolerations: [
      { key: "zz", operator: "Exists" },
      { key: "node.kubernetes.io/pid-pressure", operator: "Exists", effect: "NoSchedule" },
      { key: "aa", operator: "Exists", tolerationSeconds: 5 },
      { key: "aa", operator: "Exists", tolerationSeconds: 5 },
    ],
  },
};
const volumes = [
  { name: "files", persistentVolumeClaim: { claimName: "f" } },
  { name: "block", dataVolume: { name: "b" } },
  { name: "late", memoryDump: { claimName: "l" } },
  { name: "none", emptyDisk: { capacity: "1Gi" } },
];
const claims = new Map([
  ["files", claim("f")],
  ["block", claim("b", { volumeMode: "Block" })],
]);

function hotplug(status: VirtualMachineInstanceStatus, type?: string): Pod {
  const config = clusterConfig(type ? { selinuxLauncherType: type } : {});
  const request = { vmi: testVmi({ status }), volumes, launcherPod, claims };
  return renderHotplugPod(request, config, { profile: testProfile });
}

const context = "u:r:t:s0:c1,c2";

test("runs on the launcher's node, lives as long as the launcher, and has its tolerations", () => {
  const { metadata, spec } = hotplug({ selinuxContext: context });
  expect(metadata).toMatchObject({
    generateName: "hp-volume-",
    namespace: "ns",
    ownerReferences: [{ kind: "Pod", name: "p", uid: "uid-p", controller: true }],
  });
  expect(JSON.stringify(spec.affinity)).toContain('"values":["node01"]');
  expect(spec.tolerations?.map(({ key }) => key)).toEqual([
    "aa",
    "aa",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/network-unavailable",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/unschedulable",
    "zz",
  ]);
});

test("claims become devices or mounts; a missing one is attached alone", () => {
  const { spec } = hotplug({ selinuxContext: context });
  const [container] = spec.containers;
  expect(spec.volumes?.map(({ name }) => name)).toEqual([
    "hotplug-disks",
    "files",
    "block",
    "late",
  ]);
  expect(container?.volumeMounts?.map(({ mountPath }) => mountPath)).toEqual(["/path", "/files"]);
  expect(container?.volumeDevices).toEqual([{ name: "block", devicePath: "/path/block/uid-of-b" }]);
});

test("the last hotplugged status of a volume says whether it is mounted", () => {
  const ready = { name: "files", target: "", phase: "Ready", hotplugVolume: {} };
  const bound = { ...ready, phase: "Bound" };
  const { hotplugVolume: _, ...fixed } = bound;
  const mounts = (...volumeStatus: (typeof ready | typeof fixed)[]): unknown =>
    hotplug({ selinuxContext: context, volumeStatus }).spec.containers[0]?.volumeMounts?.length;
  expect(mounts(ready, bound)).toBe(2);
  expect(mounts(bound, ready)).toBe(1);
  expect(mounts(ready, fixed)).toBe(1);
});

test("does not mount a volume again that the guest already has", () => {
  const volumeStatus = [{ name: "files", target: "sda", phase: "Ready", hotplugVolume: {} }];
  const { spec } = hotplug({ selinuxContext: context, volumeStatus });
  expect(spec.containers[0]?.volumeMounts?.map(({ name }) => name)).toEqual(["hotplug-disks"]);
});

test.each<[VirtualMachineInstanceStatus, string]>([
  [{ selinuxContext: context }, "s0:c1,c2"],
  [{ selinuxContext: "none" }, "s0"],
  [{ migrationState: { sourceState: { selinuxContext: context } } }, "s0:c1,c2"],
  [{ migrationState: { sourceState: { selinuxContext: "none" } } }, "s0"],
])("status %j gives the level %s", (status, level) => {
  const options = hotplug(status, "t").spec.containers[0]?.securityContext?.seLinuxOptions;
  expect(options).toEqual({ level, type: "t" });
});

test.each<[VirtualMachineInstanceStatus]>([[{}], [{ selinuxContext: "a:b" }]])(
  "refuses status %j",
  (status) => {
    expect(() => hotplug(status)).toThrow(
      expect.objectContaining({
        code: "LAUNCHER_POD_SOURCE_INVALID",
        path: "status.selinuxContext",
      }),
    );
  },
);

function trigger(block: boolean, temporary: boolean): Pod {
  const vmi = testVmi({ status: { selinuxContext: context } });
  const volume = { name: "v", dataVolume: { name: "c" } };
  const request = { vmi, volume, claimName: "c", block, launcherPod, temporary };
  return renderHotplugTriggerPod(request, clusterConfig(), { profile: testProfile });
}

test("a trigger runs beside the launcher, with the claim as device or directory", () => {
  const files = trigger(false, false);
  expect(files.spec.affinity?.podAffinity).toMatchObject({
    requiredDuringSchedulingIgnoredDuringExecution: [
      { labelSelector: { matchLabels: { a: "1" } } },
    ],
  });
  expect(files.spec.containers[0]?.volumeMounts).toContainEqual({ name: "v", mountPath: "/pvc" });
  const block = trigger(true, true);
  expect(block.spec.securityContext).toEqual({ runAsUser: 0 });
  expect(block.spec.containers[0]?.command).toEqual(["/bin/bash", "-c", "exit", "0"]);
  expect(block.metadata.annotations).toEqual({ "kubevirt.io/ephemeral-provisioning": "true" });
});
