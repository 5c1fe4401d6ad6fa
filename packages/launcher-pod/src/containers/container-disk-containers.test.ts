import type { Firmware, Volume } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { container, render, type Scene, type VmiParts, withoutGates } from "../testing/render.ts";

const volumes: Volume[] = [
  { name: "empty", emptyDisk: { capacity: "1Gi" } },
  { name: "root", containerDisk: { image: "disk:1", imagePullPolicy: "Always" } },
];
const firmware: Firmware = { kernelBoot: { container: { image: "kernel:1" } } };
const parts: VmiParts = { spec: { volumes }, domain: { firmware } };
const classic = withoutGates("ImageVolume");

const names = (scene: Scene): string[][] => {
  const { initContainers = [], containers } = render(parts, scene).spec;
  return [initContainers, containers].map((list) => list.map(({ name }) => name));
};

test("with image volumes, images are volumes and init containers only show their digests", () => {
  expect(names({})).toEqual([
    ["guest-console-log", "volumeroot", "volumekernel-boot-volume"],
    ["compute"],
  ]);
  const pod = render(parts);
  expect(pod.spec.volumes).toEqual(
    expect.arrayContaining([
      { name: "root", image: { reference: "disk:1", pullPolicy: "Always" } },
      { name: "kernel-boot-volume", image: { reference: "kernel:1" } },
      { name: "launcher-volume", image: { reference: "launcher:1", pullPolicy: "IfNotPresent" } },
    ]),
  );
  expect(container(pod, "compute")?.volumeMounts).toContainEqual({
    name: "root",
    readOnly: true,
    mountPath: "/var/run/kubevirt-image-volume/disk_1",
  });
});

test("without image volumes, containers hold the images open with a program that is copied first", () => {
  expect(names(classic)).toEqual([
    [
      "guest-console-log",
      "container-disk-binary",
      "volumeroot-init",
      "volumekernel-boot-volume-init",
    ],
    ["compute", "volumeroot", "volumekernel-boot-volume"],
  ]);
  const args = container(render(parts, classic), "volumeroot")?.args;
  expect(args).toEqual(["--copy-path", "/var/run/kubevirt/container-disks/uid-1/disk_1"]);
});

test("a guest without images has no container for them, and root copies as root", () => {
  const none = render({}, classic).spec;
  expect(none.initContainers?.map(({ name }) => name)).toEqual(["guest-console-log"]);
  const root = render({ ...parts, status: { runtimeUser: 0 } }, classic);
  expect(container(root, "container-disk-binary")?.securityContext?.runAsUser).toBe(0);
  expect(container(root, "volumeroot")?.securityContext?.runAsUser).toBe(107);
});

test("in a Guaranteed Pod the copying container is as small as the others", () => {
  const domain = { cpu: { cores: 1, dedicatedCpuPlacement: true } };
  const pod = render({ spec: { volumes }, domain }, classic);
  const amounts = { cpu: "10m", memory: "40M" };
  expect(container(pod, "container-disk-binary")?.resources).toEqual({
    limits: amounts,
    requests: amounts,
  });
  expect(container(pod, "volumeroot")?.resources.requests).toEqual({
    ...amounts,
    "ephemeral-storage": "50M",
  });
});
