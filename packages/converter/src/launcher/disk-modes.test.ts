import { describe, expect, test } from "vitest";
import type { DomainDisk } from "../model/disk.ts";
import { domainWith } from "../testing/conversion.ts";
import { chooseCacheModes } from "./cache-modes.ts";
import { chooseIoModes } from "./io-modes.ts";

function withDisk(disk: Partial<DomainDisk>): ReturnType<typeof domainWith> {
  const domain = domainWith();
  const full: DomainDisk = {
    type: "file",
    device: "disk",
    driver: { name: "qemu", type: "raw" },
    source: { file: "/img" },
    target: {},
    ...disk,
  };
  return { ...domain, devices: { ...domain.devices, disks: [full] } };
}

function cache(disk: Partial<DomainDisk>, direct: (path: string) => boolean): string | undefined {
  return chooseCacheModes(withDisk(disk), direct).devices.disks[0]?.driver?.cache;
}

const driver = (cacheMode: string): Partial<DomainDisk> => ({
  driver: { name: "qemu", type: "raw", cache: cacheMode },
});

describe("chooseCacheModes", () => {
  test("caches nothing if direct I/O works, and writes through otherwise", () => {
    expect(cache({}, () => true)).toBe("none");
    expect(cache({}, () => false)).toBe("writethrough");
  });

  test("checks the image below an overlay, too", () => {
    const backingStore = { source: { file: "/base" } };
    expect(cache({ backingStore }, (path) => path !== "/base")).toBe("writethrough");
  });

  test("checks the data below an overlay that tracks changes", () => {
    const source = { file: "/cbt", dataStore: { source: { dev: "/dev/v" } } };
    expect(cache({ source }, (path) => path === "/dev/v")).toBe("none");
  });

  test("keeps a given mode, and refuses none if it is impossible", () => {
    expect(cache(driver("writeback"), () => false)).toBe("writeback");
    expect(() => cache(driver("none"), () => false)).toThrow(
      expect.objectContaining({ path: "devices.disks[0].driver.cache" }),
    );
  });

  test("leaves an empty drive alone, and refuses a disk without storage", () => {
    expect(cache({ device: "cdrom", source: {} }, () => true)).toBeUndefined();
    expect(() => cache({ source: {} }, () => true)).toThrow(/no storage/);
  });
});

describe("chooseIoModes", () => {
  const io = (disk: Partial<DomainDisk>, preallocated = false): string | undefined =>
    chooseIoModes(withDisk(disk), () => preallocated).devices.disks[0]?.driver?.io;

  test("is native without a cache, on devices and fully allocated images", () => {
    expect(io({ ...driver("none"), source: { dev: "/dev/v" } })).toBe("native");
    expect(io(driver("none"), true)).toBe("native");
    expect(io(driver("none"))).toBeUndefined();
    expect(io(driver("writethrough"), true)).toBeUndefined();
  });

  test("keeps a given mode", () => {
    expect(io({ driver: { name: "qemu", type: "raw", cache: "none", io: "threads" } }, true)).toBe(
      "threads",
    );
  });
});
