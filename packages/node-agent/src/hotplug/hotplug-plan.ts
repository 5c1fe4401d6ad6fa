import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstance, VolumeStatus } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import { blockVolumes } from "@virtkit/api/volumes";

/** How a hotplugged volume is handed to a launcher: an image, a directory for files, or a device node. */
export type PlugKind = "image" | "directory" | "device";

/** A hotplugged volume that should be in a sandbox. Plain data. */
export interface WantedPlug {
  readonly volume: string;
  readonly kind: PlugKind;
  /** As the sandbox sees it. */
  readonly target: string;
  /** The Pod that has brought the volume to this node. */
  readonly attachment: { readonly podName: string; readonly podUid: string };
}

/** What to attach to a sandbox, and what to detach. */
export interface HotplugPlan {
  readonly plug: readonly WantedPlug[];
  readonly unplug: readonly string[];
}

/** Phases of a volume whose attachment Pod exists. */
const attached = ["AttachedToNode", "MountedToPod", "Ready"];

/**
 * Which hotplugged volumes of a VMI come and go. Pure. A volume comes when the controller has named the Pod that holds it,
 * and goes when the VMI does not have it any more and no disk of the guest uses it.
 *
 * @param plugged volumes that are in the sandbox
 * @param inUse volumes that the domain has as disks; undefined if nobody knows: then nothing goes
 */
export function planHotplug(
  vmi: VirtualMachineInstance,
  plugged: readonly string[],
  inUse: readonly string[] | undefined,
  { directories: { hotplugDisks } }: Names,
): HotplugPlan {
  const { volumes = [], utilityVolumes = [] } = vmi.spec;
  const directories = new Set([
    ...utilityVolumes.map(({ name }) => name),
    ...volumes.filter(({ memoryDump }) => memoryDump).map(({ name }) => name),
  ]);
  const wanted = new Set([...volumes, ...utilityVolumes].map(({ name }) => name));
  const blocks = new Set(blockVolumes(vmi));
  const kindOf = (name: string): PlugKind => {
    if (directories.has(name)) return "directory";
    return blocks.has(name) ? "device" : "image";
  };
  const plug = (vmi.status?.volumeStatus ?? [])
    .filter(({ name }) => wanted.has(name) && !plugged.includes(name))
    .flatMap((status): WantedPlug[] => {
      const attachment = attachmentOf(status);
      if (!attachment) return [];
      const { name: volume } = status;
      const kind = kindOf(volume);
      const target = `${hotplugDisks}/${volume}${kind === "image" ? ".img" : ""}`;
      return [{ volume, kind, target, attachment }];
    });
  const unplug = plugged.filter((name) => !wanted.has(name) && inUse?.includes(name) === false);
  return { plug, unplug };
}

function attachmentOf({
  hotplugVolume,
  phase,
}: VolumeStatus): WantedPlug["attachment"] | undefined {
  const podUid = text(hotplugVolume?.attachPodUID);
  const podName = text(hotplugVolume?.attachPodName);
  if (podUid === "" || podName === "" || !attached.includes(text(phase))) return undefined;
  return { podName, podUid };
}
