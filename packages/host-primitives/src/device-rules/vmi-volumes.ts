/** The parts of a VirtualMachineInstance that decide which of its volumes may be block devices. */
export interface VmiVolumes {
  readonly spec?: {
    readonly volumes?: readonly {
      readonly name: string;
      readonly persistentVolumeClaim?: { readonly hotpluggable?: boolean };
      readonly dataVolume?: { readonly hotpluggable?: boolean };
      readonly ephemeral?: object;
      readonly memoryDump?: { readonly hotpluggable?: boolean };
    }[];
  };
  readonly status?: {
    readonly migrationState?: { readonly sourceNode?: string };
    readonly migratedVolumes?: readonly {
      readonly volumeName: string;
      readonly sourcePVCInfo?: { readonly volumeMode?: string };
    }[];
  };
}

type Volume = NonNullable<NonNullable<VmiVolumes["spec"]>["volumes"]>[number];

/**
 * Names of the volumes that may be block devices in the launcher on this node from its start.
 * Hotplugged volumes are not included: they get their rule when they are plugged in. A volume that
 * migrates away from a block device is still one on the source node.
 */
export function volumesFromStart(vmi: VmiVolumes, node: string): string[] {
  const volumes = vmi.spec?.volumes ?? [];
  const leaving = blockVolumesLeaving(vmi, node);
  return volumes
    .filter((volume) => leaving.has(volume.name) || isFromStart(volume))
    .map(({ name }) => name);
}

function isFromStart({ persistentVolumeClaim, dataVolume, ephemeral }: Volume): boolean {
  if (persistentVolumeClaim) return !persistentVolumeClaim.hotpluggable;
  if (dataVolume) return !dataVolume.hotpluggable;
  return ephemeral !== undefined && ephemeral !== null;
}

function isHotplugged({ persistentVolumeClaim, dataVolume, memoryDump }: Volume): boolean {
  const sources = [persistentVolumeClaim, dataVolume, memoryDump];
  return sources.some((source) => source?.hotpluggable === true);
}

/**
 * Volumes with a block device as their source, unless another node is the source; without
 * hotplugged ones.
 */
function blockVolumesLeaving({ spec, status }: VmiVolumes, node: string): Set<string> {
  if (status?.migrationState && (status.migrationState.sourceNode ?? "") !== node) return new Set();
  const leaving = new Set(
    (status?.migratedVolumes ?? [])
      .filter(({ sourcePVCInfo }) => sourcePVCInfo?.volumeMode === "Block")
      .map(({ volumeName }) => volumeName),
  );
  for (const volume of spec?.volumes ?? []) if (isHotplugged(volume)) leaving.delete(volume.name);
  return leaving;
}
