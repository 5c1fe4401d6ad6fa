import { type Names, names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { guardVmi } from "../../policy/guard-vmi.ts";
import { without, withoutCondition } from "./without.ts";

/**
 * The VMI once its target has been finalized: the migration is complete, volumes are where they should be, and
 * a change of CPUs or memory that waited for the new Pod waits no longer. Whether that could be plugged
 * in is for its caller to add.
 */
export function finalized(
  vmi: VirtualMachineInstance,
  { labels }: Pick<Names, "labels"> = names(),
): VirtualMachineInstance {
  return guardVmi(vmi, () => {
    const { migratedVolumes: _, changedBlockTracking: tracking, ...rest } = vmi.status ?? {};
    const status = withoutCondition(rest, "VolumesChange");
    const isTracked = tracking?.state === "Enabled";
    const spent = [
      labels.podCpuLimits,
      labels.podMemoryRequests,
      labels.memoryHotplugOverheadRatio,
    ];
    return {
      ...vmi,
      metadata: { ...vmi.metadata, labels: without(vmi.metadata?.labels, spent) },
      status: {
        ...status,
        migrationState: { ...status.migrationState, completed: true },
        // Its checkpoints are made known to the new QEMU.
        ...(tracking && {
          changedBlockTracking: isTracked ? { ...tracking, state: "Initializing" } : tracking,
        }),
      },
    };
  });
}

/** The VMI once its target has cleaned up: no longer this node's concern, and not a target any more. */
export function cleanedUp(
  vmi: VirtualMachineInstance,
  { labels, annotations }: Pick<Names, "labels" | "annotations"> = names(),
): VirtualMachineInstance {
  return guardVmi(vmi, () => {
    const hasFailed = vmi.status?.migrationState?.failed === true;
    const { metadata } = vmi;
    const spent = hasFailed ? [] : [annotations.createMigrationTarget];
    return {
      ...vmi,
      metadata: {
        ...metadata,
        labels: without(metadata?.labels, [labels.migrationTargetNodeName]),
        ...(metadata?.annotations && { annotations: without(metadata.annotations, spent) }),
      },
    };
  });
}
