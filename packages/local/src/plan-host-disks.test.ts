import type { Disk, HostDisk, VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { planLocalHostDisks } from "./plan-host-disks.ts";

function vmiWith(hostDisk: HostDisk, disk: Partial<Disk> = { disk: {} }) {
  const disks = [{ name: "data", ...disk }];
  const volumes = [{ name: "data", hostDisk }];
  return { spec: { domain: { devices: { disks } }, volumes } } as VirtualMachineInstance;
}

const plan = (path: string, allowed: readonly string[]) =>
  planLocalHostDisks(vmiWith({ path, type: "Disk" }), allowed);

test("plans a disk below an allowed directory with the path to it", () => {
  expect(plan("/srv/disks/a/b.img", ["/srv", "/srv/disks/"])).toEqual([
    {
      field: "spec.volumes[0].hostDisk.path",
      volume: "data",
      path: "/srv/disks/a/b.img",
      directory: "/srv/disks",
      parts: ["a", "b.img"],
      target: "/var/run/kubevirt-private/vmi-disks/data/b.img",
      readOnly: false,
      size: undefined,
    },
  ]);
});

test.each([
  ["outside", "/etc/x.img"],
  ["next to the directory, with its name as a prefix", "/srv/disks2/x.img"],
  ["the directory itself", "/srv/disks"],
  ["outside, by way of ..", "/srv/disks/../x.img"],
  ["through .", "/srv/disks/./x.img"],
  ["relative", "srv/disks/x.img"],
  ["a directory, because it ends in a slash", "/srv/disks/x/"],
  ["one with a NUL byte", "/srv/disks/x\0.img"],
])("rejects a path that is %s, with its field", (_, path) => {
  expect(() => plan(path, ["/srv/disks"])).toThrow(
    expect.objectContaining({
      code: "AGENT_VMI_INVALID",
      path: "spec.volumes[0].hostDisk.path",
      message: expect.stringMatching(/^spec\.volumes\[0\]\.hostDisk\.path: .*; (use|add) /),
    }),
  );
});

test("allows no disk if no directory is allowed", () => {
  expect(() => plan("/srv/x.img", [])).toThrow(/--allow-host-disk \/srv$/);
});

test("requires an absolute path for an allowed directory", () => {
  expect(() => plan("/srv/x.img", ["srv"])).toThrow(
    expect.objectContaining({ code: "AGENT_ARGUMENT", path: "allowedHostDiskDirectories" }),
  );
});

test("a disk that may be created has its size, and one that is too small is rejected", () => {
  const make = (capacity: string) =>
    planLocalHostDisks(vmiWith({ path: "/srv/x", type: "DiskOrCreate", capacity }), ["/srv"]);
  expect(make("3Mi")[0]?.size).toBe(3n << 20n);
  expect(() => make("3Ki")).toThrow(expect.objectContaining({ code: "AGENT_VMI_INVALID" }));
});

test.each([
  [{ disk: {} }, false],
  [{ disk: { readonly: true } }, true],
  [{ lun: { readonly: true } }, true],
  [{ cdrom: {} }, true],
  [{ cdrom: { readonly: false } }, false],
] as const)("a device %j writes to its disk unless it is read-only", (device, readOnly) => {
  const vmi = vmiWith({ path: "/srv/x.iso", type: "Disk" }, device as Partial<Disk>);
  expect(planLocalHostDisks(vmi, ["/srv"])[0]?.readOnly).toBe(readOnly);
});
