import { parseDomain } from "@virtkit/converter";
import { expect, test } from "vitest";
import { refuseIncoherent } from "./refuse-incoherent.ts";

const domainOf = (driver: string, more = "", device = "disk") =>
  parseDomain(
    `<domain type="kvm"><name>vm</name><memory unit="b">1</memory><os><type>hvm</type></os><devices><disk type="file" device="${device}"><driver name="qemu" type="raw"${driver}/><source file="/disk.img"/><target dev="vda" bus="virtio"/>${more}<alias name="ua-root"/></disk></devices></domain>`,
  );

test.each([' cache="writeback"', ' cache="writethrough"', ' cache="unsafe"', ""])(
  "a shared disk with a driver of%s is rejected by its name",
  (driver) => {
    expect(() => refuseIncoherent(domainOf(driver), [])).toThrow(
      expect.objectContaining({
        code: "MIGRATION_DISK_INCOHERENT",
        path: "domain.devices.disk[vda]",
        message: expect.stringContaining("root"),
      }),
    );
  },
);

test("accepts one without a host cache, and disks that are copied or read-only", () => {
  for (const cache of ["none", "directsync"]) {
    expect(() => refuseIncoherent(domainOf(` cache="${cache}"`), [])).not.toThrow();
  }
  const cached = ' cache="writeback"';
  expect(() => refuseIncoherent(domainOf(cached), ["vda"])).not.toThrow();
  expect(() => refuseIncoherent(domainOf(cached, "<readonly/>"), [])).not.toThrow();
  expect(() => refuseIncoherent(domainOf(cached, "<shareable/>"), [])).not.toThrow();
  expect(() => refuseIncoherent(domainOf(cached, "", "cdrom"), [])).not.toThrow();
});
