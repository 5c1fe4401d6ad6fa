import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { PlannedEvent } from "@virtkit/api/status";
import { isConflict, type KubeObject } from "@virtkit/kube";
import { patchObject } from "@virtkit/kube/writes";
import type { MigrationScene } from "./migration-scene.ts";

/**
 * Writes a VMI as a migration leaves it, and tells the events once that is written. False where somebody else has changed
 * the same: then the next look goes by what they wrote.
 */
export async function writeVmi(
  { vmi, hold, context, recorder }: MigrationScene,
  after: VirtualMachineInstance | undefined,
  events: readonly PlannedEvent[],
): Promise<boolean> {
  const { client, vmis, effects, signal } = context;
  try {
    if (after) {
      const written = await effects("write the migration's state", () =>
        patchObject(client, vmis, vmi as KubeObject, after as KubeObject, { signal }),
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
