import type { DomainDisk } from "../model/disk.ts";
import type { Domain } from "../model/domain.ts";
import { backendOf } from "../storage/backend.ts";

/**
 * Chooses native asynchronous I/O for disks for which the VMI does not set a mode and nothing can block it: without
 * a cache, on a block device or a fully allocated image. Returns a new domain.
 */
export function chooseIoModes(domain: Domain, isPreallocated: (path: string) => boolean): Domain {
  const disks = domain.devices.disks.map((disk) => withIoMode(disk, isPreallocated));
  return { ...domain, devices: { ...domain.devices, disks } };
}

function withIoMode(disk: DomainDisk, isPreallocated: (path: string) => boolean): DomainDisk {
  const { driver } = disk;
  const { path, isBlock } = backendOf(disk);
  if (!driver || driver.io || path === "" || driver.cache !== "none") return disk;
  if (!isBlock && !isPreallocated(path)) return disk;
  return { ...disk, driver: { ...driver, io: "native" } };
}
