import { invalidContext } from "../converter-error.ts";
import type { DomainDisk } from "../model/disk.ts";
import type { Domain } from "../model/domain.ts";
import { backendOf } from "../storage/backend.ts";

/**
 * Chooses how disks are cached where the VMI does not say: not at all if their storage takes direct
 * I/O, else written through. Returns a new domain.
 *
 * `takesDirectIo` is asked for the path of each image or device and of the image below it; a path
 * that cannot be tried counts as one that does not.
 *
 * @throws ConverterError if a disk must not be cached and its storage cannot do without.
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
      "the disk has no storage whose cache could be chosen",
    );
  }
  const stated = driver.cache;
  if (stated && stated !== "none") return disk;
  const direct =
    takesDirectIo(path) && (!backingStore || takesDirectIo(backingStore.source?.file ?? ""));
  if (stated === "none" && !direct) {
    const message = `the cache mode none is asked for, and the storage of ${path} takes no direct I/O`;
    throw invalidContext(`devices.disks[${at}].driver.cache`, message);
  }
  return { ...disk, driver: { ...driver, cache: direct ? "none" : "writethrough" } };
}
