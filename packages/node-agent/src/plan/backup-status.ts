import type { VirtualMachineInstance, VirtualMachineInstanceStatus } from "@virtkit/api/schema";
import type { NodePass } from "./node-pass.ts";
import type { NodeDomain } from "./node-view.ts";

type Tracking = VirtualMachineInstanceStatus["changedBlockTracking"];

/** The current state of changed block tracking: the progress of a backup, and whether all disks track changes. */
export function trackingStatus(pass: NodePass, vmi: VirtualMachineInstance): Tracking {
  const before = vmi.status?.changedBlockTracking;
  if (!before || !pass.domain) return before;
  const after = withBackup(before, pass.domain);
  if (after?.state !== "Initializing" || !tracksAll(vmi, pass.domain)) return after;
  for (const { namespace, name, hasCheckpoint, isMarked } of pass.view.trackers ?? []) {
    if (hasCheckpoint && !isMarked) pass.attempt({ do: "mark-tracker", namespace, name });
  }
  return { ...after, state: "Enabled" };
}

/** Whether each disk of a claim or of the host keeps track of its changed blocks. */
function tracksAll({ spec }: VirtualMachineInstance, { trackedVolumes = [] }: NodeDomain): boolean {
  return (spec.volumes ?? []).every(
    ({ name, persistentVolumeClaim, dataVolume, hostDisk }) =>
      !(persistentVolumeClaim || dataVolume || hostDisk) || trackedVolumes.includes(name),
  );
}

function withBackup(tracking: NonNullable<Tracking>, { backup }: NodeDomain): Tracking {
  const { backupStatus: before } = tracking;
  if (!before || !backup || before.backupName !== backup.name) return tracking;
  // A backup with the same name that began later is another one.
  if (timeOf(before.startTimestamp) !== timeOf(backup.startTimestamp)) return tracking;
  const { completed, failed, endTimestamp, message, checkpointName, quiesceStatus } = backup;
  const { completed: _, failed: __, ...rest } = before;
  const volumes = volumesIn(backup.volumes);
  return {
    ...tracking,
    backupStatus: {
      ...rest,
      ...(completed ? { completed } : {}),
      ...(failed ? { failed } : {}),
      ...(endTimestamp ? { endTimestamp } : {}),
      ...(message ? { backupMsg: message } : {}),
      ...(checkpointName ? { checkpointName } : {}),
      ...(volumes ? { volumes } : {}),
      ...(quiesceStatus ? { quiesceStatus } : {}),
    },
  } as Tracking;
}

function timeOf(time: string | undefined): number {
  return time === undefined ? Number.NEGATIVE_INFINITY : Date.parse(time);
}

/** The launcher's list; undefined if it is empty or unreadable, which keeps what is known. */
function volumesIn(json: string | undefined): readonly object[] | undefined {
  try {
    const list: unknown = JSON.parse(json ?? "");
    return Array.isArray(list) && list.length > 0 && list.every(isEntry) ? list : undefined;
  } catch {
    // A launcher's report is not trusted: what is not a list is not stored.
    return undefined;
  }
}

function isEntry(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
