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

test("a disk below an allowed directory is planned with the way to it", () => {
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
  ["beside, with the directory's name as its beginning", "/srv/disks2/x.img"],
  ["the directory itself", "/srv/disks"],
  ["out of it by ..", "/srv/disks/../x.img"],
  ["through .", "/srv/disks/./x.img"],
  ["relative", "srv/disks/x.img"],
  ["a directory by its slash", "/srv/disks/x/"],
  ["with a NUL", "/srv/disks/x\0.img"],
])("a path that is %s is refused with its field", (_, path) => {
  expect(() => plan(path, ["/srv/disks"])).toThrow(
    expect.objectContaining({
      code: "AGENT_VMI_INVALID",
      path: "spec.volumes[0].hostDisk.path",
      message: expect.stringMatching(/^spec\.volumes\[0\]\.hostDisk\.path: .*; (use|add) /),
    }),
  );
});

test("where no directory is allowed no disk is", () => {
  expect(() => plan("/srv/x.img", [])).toThrow(/--allow-host-disk \/srv$/);
});

test("an allowed directory is an absolute path", () => {
  expect(() => plan("/srv/x.img", ["srv"])).toThrow(
    expect.objectContaining({ code: "AGENT_ARGUMENT", path: "allowedHostDiskDirectories" }),
  );
});

test("a disk that may be made has its size, and one that is too small is refused", () => {
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
