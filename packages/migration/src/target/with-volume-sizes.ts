import type { Domain } from "@virtkit/converter";
import { nameOfAlias } from "@virtkit/converter/model";

type Disk = Domain["devices"]["disks"][number];

/**
 * A target's own domain, with disks on larger volumes limited to the size that the guest knows: libvirt refuses to copy
 * to a disk of another size, and the guest must not see a disk grow while it moves.
 */
export function withVolumeSizes(domain: Domain, sizes: Readonly<Record<string, number>>): Domain {
  const cut = (disk: Disk): Disk => {
    const name = nameOfAlias(disk.alias) ?? disk.alias?.name ?? "";
    const size = Object.hasOwn(sizes, name) ? sizes[name] : undefined;
    if (size === undefined) return disk;
    const attributes = { type: "storage", offset: "0", size: String(size) };
    const slices = { name: "slices", children: [{ name: "slice", attributes }] };
    const { extra } = disk.source;
    const children = [...(extra?.children ?? []), slices];
    return { ...disk, source: { ...disk.source, extra: { ...extra, children } } };
  };
  const { devices } = domain;
  return { ...domain, devices: { ...devices, disks: devices.disks.map(cut) } };
}
