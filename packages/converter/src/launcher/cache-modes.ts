import { invalidContext } from "../converter-error.ts";
import type { DomainDisk } from "../model/disk.ts";
import type { Domain } from "../model/domain.ts";
import { backendOf } from "../storage/backend.ts";

/**
 * Chooses the cache mode of disks for which the VMI does not set one: none if their storage supports direct I/O,
 * otherwise write-through. Returns a new domain.
 *
 * `takesDirectIo` is called with the path of each image or device, and of its backing image; a path that cannot be
 * tested counts as not supporting direct I/O.
 *
 * @throws ConverterError if a disk must not be cached and its storage does not support that.
 */
export function chooseCacheModes(domain: Domain, takesDirectIo: (path: string) => boolean): Domain {
  const disks = domain.devices.disks.map((disk, at) => withCacheMode(disk, at, takesDirectIo));
  return { ...domain, devices: { ...domain.devices, disks } };
}

function withCacheMode(
  disk: DomainDisk,
  at: number,
  takesDirectIo: (path: string) => boolean,
): DomainDisk {
  const { path } = backendOf(disk);
  const { driver, device, backingStore } = disk;
  if (path === "" && device === "cdrom") return disk;
  if (path === "" || !driver) {
    throw invalidContext(
      `devices.disks[${at}]`,
      "the disk has no storage to choose a cache mode for",
    );
  }
  const stated = driver.cache;
  if (stated && stated !== "none") return disk;
  const direct =
    takesDirectIo(path) && (!backingStore || takesDirectIo(backingStore.source?.file ?? ""));
  if (stated === "none" && !direct) {
    const message = `the cache mode is none, but the storage of ${path} does not support direct I/O`;
    throw invalidContext(`devices.disks[${at}].driver.cache`, message);
  }
  return { ...disk, driver: { ...driver, cache: direct ? "none" : "writethrough" } };
}
