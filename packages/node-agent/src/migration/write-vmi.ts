import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { PlannedEvent } from "@virtkit/api/status";
import { isConflict, type KubeObject } from "@virtkit/kube";
import { type PatchObjectOptions, patchObject } from "@virtkit/kube/writes";
import type { MigrationScene } from "./migration-scene.ts";

/** The next migration begins with an empty state, to which nothing of this one may be added. */
const migrationUid = "/status/migrationState/migrationUid";

/**
 * Writes a VMI as a migration leaves it, and then reports the events. False if somebody else has changed the same
 * fields, or, with `isExclusive`, anything, or if the VMI shows another migration: then the next pass starts from what
 * they wrote.
 */
export async function writeVmi(
  { vmi, hold, context, recorder }: MigrationScene,
  after: VirtualMachineInstance | undefined,
  events: readonly PlannedEvent[],
  { isExclusive = false }: Pick<PatchObjectOptions, "isExclusive"> = {},
): Promise<boolean> {
  const { client, vmis, effects, signal } = context;
  try {
    if (after) {
      const written = await effects("write the migration's state", () =>
        patchObject(client, vmis, vmi as KubeObject, after as KubeObject, {
          ...{ signal, isExclusive, unchanged: [migrationUid] },
        }),
      );
      if (written !== vmi) hold.written = written;
    }
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
  for (const event of events) recorder.record(vmis, vmi as KubeObject, event);
  return true;
}
