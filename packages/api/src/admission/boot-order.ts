import type { ClusterConfig } from "../config/index.ts";
import type { Disk, VirtualMachineInstanceSpec, Volume } from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Cause, each, fine, invalid, join, quote, required } from "./cause.ts";

/** Every disk has a volume of a kind that it can show, and no two devices have the same boot order. */
export function disksAndBootOrder(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): readonly Cause[] {
  const { disks, interfaces } = spec.domain.devices;
  if (!disks?.length && !interfaces?.length) return fine;
  const volumes = new Map(spec.volumes?.map((volume) => [volume.name, volume]));
  const taken = new Set<number>();
  return join(
    each(disks, (disk, i) => {
      const field = `${at}.domain.devices.disks[${i}]`;
      const volume = volumes.get(disk.name);
      return join(
        volume ? volumeSuits(disk, volume, field) : diskWithoutVolume(disk, field, config),
        bootsAlone(disk.bootOrder, taken, `${field}.bootOrder`),
      );
    }),
    interfaceBootOrder(spec, at, taken),
  );
}

function diskWithoutVolume(disk: Disk, field: string, config: ClusterConfig): readonly Cause[] {
  const found = `is ${quote(disk.name)}, but no volume has that name`;
  if (!disk.cdrom) return invalid(`${field}.name`, `${found}; add one to volumes`);
  if (config.gate("DeclarativeHotplugVolumes")) return fine;
  return invalid(
    `${field}.name`,
    `${found}; an empty CD-ROM needs the feature gate DeclarativeHotplugVolumes, which is off`,
  );
}

function volumeSuits(disk: Disk, volume: Volume, field: string): readonly Cause[] {
  return join(
    disk.lun && !volume.persistentVolumeClaim && !volume.dataVolume
      ? invalid(
          `${field}.lun`,
          "shows a volume that is not a persistentVolumeClaim or dataVolume; use disk",
        )
      : fine,
    volume.downwardMetrics ? metricsDisk(disk, field) : fine,
  );
}

function metricsDisk({ disk }: Disk, field: string): readonly Cause[] {
  if (!disk) return required(`${field}.disk`, "must be set, because the volume is downwardMetrics");
  if (!disk.bus || disk.bus === "virtio") return fine;
  return invalid(`${field}.disk.bus`, `is ${quote(disk.bus)}; downwardMetrics needs virtio`);
}

function interfaceBootOrder(
  { domain }: VirtualMachineInstanceSpec,
  at: string,
  taken: Set<number>,
): readonly Cause[] {
  return each(domain.devices.interfaces, ({ bootOrder }, i) => {
    const field = `${at}.domain.devices.interfaces[${i}].bootOrder`;
    if (isSet(bootOrder) && bootOrder < 1) {
      // The reported path lacks the list's name, as in KubeVirt.
      return invalid(`${at}[${i}].bootOrder`, `is ${bootOrder}; use 1 or more`, field);
    }
    return bootsAlone(bootOrder, taken, field);
  });
}

function bootsAlone(
  order: number | undefined,
  taken: Set<number>,
  field: string,
): readonly Cause[] {
  if (!isSet(order)) return fine;
  if (taken.has(order))
    return invalid(field, `is ${order}, as in another device; use each number once`);
  taken.add(order);
  return fine;
}
