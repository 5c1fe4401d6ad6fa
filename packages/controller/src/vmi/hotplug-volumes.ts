import type { VirtualMachineInstance, Volume } from "@virtkit/api/schema";
import { isBlockClaim } from "@virtkit/api/volumes";
import type { PodObject } from "./cluster-objects.ts";
import { claimNamed, readinessOf } from "./data-volumes.ts";
import type { SyncFailure } from "./sync-failure.ts";
import type { VmiPass } from "./vmi-pass.ts";

/** The volumes that the launcher Pod does not have: those to attach while the guest runs. */
export function hotplugVolumes(vmi: VirtualMachineInstance, pod: PodObject): readonly Volume[] {
  const present = new Set((pod.spec?.volumes ?? []).map(({ name }) => name));
  const { volumes = [], utilityVolumes = [] } = vmi.spec;
  const attachable = volumes.filter(
    ({ dataVolume, persistentVolumeClaim, memoryDump }) =>
      dataVolume ?? persistentVolumeClaim ?? memoryDump,
  );
  const utility = utilityVolumes.map(
    ({ name, claimName, readOnly }): Volume => ({
      name,
      persistentVolumeClaim: {
        claimName,
        ...(readOnly === undefined ? {} : { readOnly }),
        hotpluggable: true,
      },
    }),
  );
  return [...attachable, ...utility].filter(({ name }) => !present.has(name));
}

/** Whether a volume of the spec may be attached to a running guest. */
export function isHotpluggable({ dataVolume, persistentVolumeClaim, memoryDump }: Volume): boolean {
  return [dataVolume, persistentVolumeClaim, memoryDump].some((source) => source?.hotpluggable);
}

/** Hotplug volumes by whether they can be attached now. */
export interface SortedVolumes {
  readonly ready: readonly Volume[];
  /** To be filled only once a Pod on the guest's node uses them. */
  readonly waiting: readonly Volume[];
  readonly failure?: SyncFailure;
}

/** Sorts the volumes up to the first one that cannot be judged yet. */
export function sortVolumes({ vmi, view }: VmiPass, volumes: readonly Volume[]): SortedVolumes {
  const utility = new Set((vmi.spec.utilityVolumes ?? []).map(({ name }) => name));
  const ready: Volume[] = [];
  const waiting: Volume[] = [];
  for (const volume of volumes) {
    const claimName = volume.persistentVolumeClaim?.claimName ?? "";
    // A utility volume holds files for the launcher, which a block device cannot.
    if (utility.has(volume.name) && isBlockClaim(claimNamed(view, claimName)?.spec)) continue;
    const state = readinessOf(view, volume);
    if (typeof state === "object") {
      const failure = { reason: "PVCNotReady", message: state.message };
      return { ready, waiting, failure };
    }
    if (state === "ready") ready.push(volume);
    if (state === "waits-for-consumer") waiting.push(volume);
  }
  return { ready, waiting };
}
