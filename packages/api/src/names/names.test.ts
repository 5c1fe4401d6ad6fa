import { expect, test } from "vitest";
import { names } from "./names.ts";

const tables = [
  "groups",
  "labels",
  "nodeLabels",
  "annotations",
  "finalizers",
  "podConditions",
  "taints",
  "devices",
] as const;

test("the names are KubeVirt's by default", () => {
  const { labels, annotations, finalizers, devices, groups } = names();
  expect([
    labels.createdBy,
    annotations.domain,
    finalizers.vmi,
    devices.kvm,
    groups.instancetype,
  ]).toEqual([
    "kubevirt.io/created-by",
    "kubevirt.io/domain",
    "kubevirt.io/foregroundDeleteVirtualMachine",
    "devices.kubevirt.io/kvm",
    "instancetype.kubevirt.io",
  ]);
});

test("names in a table are unique, and each contains the domain once", () => {
  const all = names();
  for (const table of tables) {
    const values = Object.values<string>(all[table]);
    expect(new Set(values).size, table).toBe(values.length);
    for (const value of values) expect(value.split("kubevirt.io"), value).toHaveLength(2);
  }
});

test("another group changes all names derived from it", () => {
  const all = names({ group: "vm.example.com" });
  for (const table of tables) expect(JSON.stringify(all[table])).not.toContain("kubevirt.io");
  expect(all.nodeLabels.cpuModel).toBe("cpu-model.node.vm.example.com/");
  expect(all.labels.app).toBe("vm.example.com");
});

test("labels and annotations can have their own prefixes", () => {
  const all = names({ labelPrefix: "l.example", annotationPrefix: "$&.example", ownPrefix: "o" });
  expect([
    all.labels.nodeName,
    all.annotations.domain,
    all.finalizers.vm,
    all.own("reason"),
  ]).toEqual([
    "l.example/nodeName",
    "$&.example/domain",
    "kubevirt.io/virtualMachineControllerFinalize",
    "o/reason",
  ]);
});

test("directories and sockets follow their roots", () => {
  const { directories, sockets } = names({
    directories: { share: "/run/vm", private: "/run/vmp", pods: "/var/lib/kubelet/pods" },
  });
  expect(directories).toMatchObject({
    sockets: "/run/vm/sockets",
    vmiDisks: "/run/vmp/vmi-disks",
    ephemeralDisks: "/var/run/kubevirt-ephemeral-disks",
  });
  expect([
    sockets.launcher,
    sockets.launcherOfPod("uid-1"),
    sockets.containerDiskOfPod("uid-1", 2),
    sockets.serial("uid-2"),
    sockets.usbRedirect("uid-2", 3),
    sockets.migrationProxy("uid-2"),
    sockets.migrationProxy("uid-2", 49152),
  ]).toEqual([
    "/run/vm/sockets/launcher-sock",
    "/var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~empty-dir/sockets/launcher-sock",
    "/var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~empty-dir/container-disks/disk_2.sock",
    "/run/vmp/uid-2/virt-serial0",
    "/run/vmp/uid-2/virt-usbredir-3",
    "/run/vm/migrationproxy/uid-2-source.sock",
    "/run/vm/migrationproxy/uid-2-49152-source.sock",
  ]);
});

test.each(["", ".", "..", "../x", "a/b", "a\0b"])("%j is not part of a path", (uid) => {
  const { sockets } = names();
  const refused = expect.objectContaining({ code: "API_NAME_INVALID" });
  expect(() => sockets.launcherOfPod(uid)).toThrow(refused);
  expect(() => sockets.podVolume("uid", uid)).toThrow(refused);
  expect(() => sockets.vnc(uid)).toThrow(refused);
  expect(() => sockets.migrationProxy(uid, 1)).toThrow(refused);
  expect(() => sockets.serial("uid", -1)).toThrow(refused);
});
