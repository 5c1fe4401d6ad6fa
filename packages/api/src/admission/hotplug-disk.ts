import type { Disk } from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Cause, fine, invalid, quote } from "./cause.ts";
import { diskTarget } from "./disk.ts";

/**
 * What a disk must be to be plugged into a running VMI: on a bus that supports it. The first fault is reported,
 * at `field`.
 */
export function hotplugDisk(
  disk: Disk | undefined,
  name: string,
  field: string | undefined,
): readonly Cause[] {
  const problem = disk ? unpluggable(disk) : "has no disk; describe it";
  const subject = field === undefined ? "spec.volumes" : "status.volumeRequests";
  if (problem) return invalid(field, `would plug in ${quote(name)}, which ${problem}`, subject);
  if (!isSet(disk?.bootOrder) || disk.bootOrder >= 1) return fine;
  // KubeVirt reports this one at a fixed path.
  return invalid("spec.domain.devices.disks[1].bootOrder", `of ${quote(name)} is 0; use 1 or more`);
}

function unpluggable(disk: Disk): string | undefined {
  const { type, bus } = diskTarget(disk);
  if (type === "disk" && bus !== "scsi" && bus !== "virtio") {
    return `is a disk on the bus ${quote(bus)}; use scsi or virtio`;
  }
  if (type === "lun" && bus !== "scsi") return `is a lun on the bus ${quote(bus)}; use scsi`;
  if (type !== "disk" && type !== "lun") return "is neither disk nor lun; use one of them";
  if (disk.dedicatedIOThread && bus !== "virtio") {
    return `has a dedicatedIOThread on the bus ${bus}; use virtio or remove it`;
  }
  return undefined;
}
