import type { Volume } from "@virtkit/api/schema";
import { part } from "../explain.ts";
import type { LauncherDirectories } from "../launcher-profile.ts";
import type { PodVolume } from "../pod/volume.ts";
import type { Step } from "../pod-draft.ts";

/**
 * Volumes with configuration: secret, configMap and downwardAPI. Each is a volume of the Pod; the compute
 * container mounts those that a disk shows to the guest, in the order of the disks.
 */
export const configVolumes: Step = ({ spec, devices, profile, explain }, draft) => {
  const byName = new Map<string, Volume>();
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    byName.set(volume.name, volume);
    for (const podVolume of podVolumesOf(volume)) {
      draft.volumes.push(podVolume);
      explain?.(
        part.volume(volume.name),
        `vmi.spec.volumes[${index}]`,
        "configuration for the guest",
      );
    }
  }
  for (const { name } of devices.disks ?? []) {
    const volume = byName.get(name);
    if (!volume) continue;
    for (const mountPath of configPaths(volume, profile.directories)) {
      draft.mounts.push({ name, readOnly: true, mountPath });
    }
  }
};

function podVolumesOf({ name, secret, configMap, downwardAPI }: Volume): PodVolume[] {
  const found: PodVolume[] = [];
  if (secret) {
    const { secretName, optional } = secret;
    found.push({
      name,
      secret: { ...(secretName ? { secretName } : {}), ...given(optional) },
    });
  }
  if (configMap) {
    found.push({
      name,
      configMap: {
        ...(configMap.name ? { name: configMap.name } : {}),
        ...given(configMap.optional),
      },
    });
  }
  if (downwardAPI) {
    const { fields } = downwardAPI;
    found.push({ name, downwardAPI: fields?.length ? { items: fields } : {} });
  }
  return found;
}

function given(optional: boolean | undefined): { optional?: boolean } {
  return typeof optional === "boolean" ? { optional } : {};
}

function configPaths(volume: Volume, directories: LauncherDirectories): string[] {
  const paths: string[] = [];
  if (volume.secret) paths.push(secretPath(directories, volume.name));
  if (volume.configMap) paths.push(configMapPath(directories, volume.name));
  if (volume.downwardAPI) paths.push(downwardApiPath(directories, volume.name));
  return paths;
}

/** Where containers of the launcher see the files of a secret. */
export function secretPath(directories: LauncherDirectories, name: string): string {
  return `${directories.private}/secret/${name}`;
}

/** Where containers of the launcher see the files of a configMap. */
export function configMapPath(directories: LauncherDirectories, name: string): string {
  return `${directories.private}/config-map/${name}`;
}

/** Where containers of the launcher see the files of a downwardAPI volume. */
export function downwardApiPath(directories: LauncherDirectories, name: string): string {
  return `${directories.private}/downwardapi/${name}`;
}
