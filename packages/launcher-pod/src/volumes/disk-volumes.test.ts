import type { Volume, VolumeStatus } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import type { Pod } from "../pod/pod.ts";
import { claim, container, render } from "../testing/render.ts";

const objects = {
  persistentVolumeClaims: [
    claim("files"),
    claim("shared", { accessModes: ["ReadWriteMany"] }),
    claim("block", { volumeMode: "Block" }),
  ],
};

function renderVolumes(volumes: Volume[], volumeStatus: VolumeStatus[] = []): Pod {
  return render({ spec: { volumes }, status: { volumeStatus } }, { objects });
}

const mounted = "/var/run/kubevirt-private/vmi-disks/d";

test.each<[string, Volume, object]>([
  ["a claim", { name: "d", persistentVolumeClaim: { claimName: "files" } }, { claimName: "files" }],
  [
    "a read-only claim",
    { name: "d", persistentVolumeClaim: { claimName: "files", readOnly: true } },
    { claimName: "files", readOnly: true },
  ],
  [
    "an overlay on a claim",
    { name: "d", ephemeral: { persistentVolumeClaim: { claimName: "files" } } },
    { claimName: "files" },
  ],
  ["a data volume", { name: "d", dataVolume: { name: "files" } }, { claimName: "files" }],
])("%s is a volume and a mount", (_, volume, persistentVolumeClaim) => {
  const pod = renderVolumes([volume]);
  expect(pod.spec.volumes).toContainEqual({ name: "d", persistentVolumeClaim });
  expect(container(pod, "compute")?.volumeMounts).toContainEqual({ name: "d", mountPath: mounted });
});

test("a block claim is a device", () => {
  const pod = renderVolumes([{ name: "d", dataVolume: { name: "block" } }]);
  expect(container(pod, "compute")?.volumeDevices).toEqual([{ name: "d", devicePath: "/dev/d" }]);
});

test("directories on shared claims are named to the launcher", () => {
  const pod = renderVolumes([{ name: "d", persistentVolumeClaim: { claimName: "shared" } }]);
  const env = container(pod, "compute")?.env;
  expect(env).toContainEqual({ name: "SHARED_FILESYSTEM_PATHS", value: mounted });
});

test("hotplugged volumes are left to another Pod, by their status or declaration", () => {
  const pod = renderVolumes(
    [
      { name: "a", persistentVolumeClaim: { claimName: "files", hotpluggable: true } },
      { name: "b", dataVolume: { name: "files" } },
    ],
    [{ name: "b", target: "", hotplugVolume: {} }],
  );
  const names = pod.spec.volumes?.map(({ name }) => name);
  expect(names).not.toContain("a");
  expect(names).not.toContain("b");
});

test.each([
  ["Disk", "Directory"],
  ["DiskOrCreate", "DirectoryOrCreate"],
  ["Tape", ""],
])("a host disk of type %s mounts its directory as %s", (type, pathType) => {
  const hostDisk = { path: "/data/disk.img", type };
  const pod = renderVolumes([{ name: "d", hostDisk }]);
  expect(pod.spec.volumes).toContainEqual({
    name: "d",
    hostPath: { path: "/data", type: pathType },
  });
});

test("downward metrics are a small disk in memory", () => {
  const pod = renderVolumes([{ name: "d", downwardMetrics: {} }]);
  const emptyDir = { medium: "Memory", sizeLimit: "1Mi" };
  expect(pod.spec.volumes).toContainEqual({ name: "d", emptyDir });
});

test.each([
  [{ secret: { name: "s" } }, { secret: { secretName: "s" } }],
  [{ configMap: { name: "c" } }, { configMap: { name: "c" } }],
])("sysprep %j is mounted read-only", (sysprep, source) => {
  const pod = renderVolumes([{ name: "d", sysprep }]);
  expect(pod.spec.volumes).toContainEqual({ name: "d", ...source });
  expect(container(pod, "compute")?.volumeMounts).toContainEqual({
    name: "d",
    readOnly: true,
    mountPath: "/var/run/kubevirt-private/sysprep/d",
  });
});

test.each<[Volume, string, string]>([
  [
    { name: "d", persistentVolumeClaim: { claimName: "nope" } },
    "LAUNCHER_POD_NOT_FOUND",
    "spec.volumes[0].persistentVolumeClaim.claimName",
  ],
  [
    { name: "d", dataVolume: { name: "nope" } },
    "LAUNCHER_POD_NOT_FOUND",
    "spec.volumes[0].dataVolume.name",
  ],
  [{ name: "d", ephemeral: {} }, "LAUNCHER_POD_FIELD_INVALID", "spec.volumes[0].ephemeral"],
  [{ name: "d", sysprep: {} }, "LAUNCHER_POD_FIELD_INVALID", "spec.volumes[0].sysprep"],
])("refuses %j", (volume, code, path) => {
  expect(() => renderVolumes([volume])).toThrow(expect.objectContaining({ code, path }));
});
