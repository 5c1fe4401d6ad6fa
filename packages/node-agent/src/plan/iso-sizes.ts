import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstance, VolumeStatus } from "@virtkit/api/schema";
import { type ConfigVolume, DiskPaths } from "@virtkit/domain-manager/disks";

const configKinds = ["configMap", "downwardAPI", "secret", "serviceAccount", "sysprep"] as const;

/** Where the launcher creates the generated disks of a VMI, by volume. */
export function generatedDisks(
  vmi: VirtualMachineInstance,
  { directories }: Pick<Names, "directories">,
): ReadonlyMap<string, string> {
  const paths = new DiskPaths(directories);
  const wanted = new Set((vmi.spec.domain.devices.disks ?? []).map(({ name }) => name));
  const found = new Map<string, string>();
  for (const volume of vmi.spec.volumes ?? []) {
    if (!wanted.has(volume.name)) continue;
    if (volume.cloudInitNoCloud) found.set(volume.name, paths.cloudInit(vmi, "noCloud"));
    else if (volume.cloudInitConfigDrive) {
      found.set(volume.name, paths.cloudInit(vmi, "configDrive"));
    } else {
      const kind = configKinds.find((each): each is ConfigVolume => Boolean(volume[each]));
      if (kind) found.set(volume.name, paths.configImage(kind, volume.name));
    }
  }
  return found;
}

/** Volumes with the sizes of the disks that the launcher has generated for a guest that runs on this node. */
export function withSizes(
  vmi: VirtualMachineInstance,
  volumes: readonly VolumeStatus[],
  sizes: Readonly<Record<string, number>>,
  names: Names,
): readonly VolumeStatus[] {
  const { phase, activePods = {}, nodeName } = vmi.status ?? {};
  if (phase !== "Running" || !Object.values(activePods).includes(nodeName ?? "")) return volumes;
  const disks = generatedDisks(vmi, names);
  return volumes.map((volume) => {
    const path = disks.get(volume.name);
    const size = path === undefined ? undefined : sizes[path];
    return size === undefined ? volume : { ...volume, size };
  });
}
