import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { isSet } from "@virtkit/api/shape";
import { acceptableCompletionSeconds, migrationDataSize } from "../policy/completion-timeout.ts";
import { guardVmi } from "../policy/guard-vmi.ts";
import type { MigrationOptions, StallDetection } from "./migration-options.ts";

/** When a migration is out of time, and what may be done then. */
export interface ConvergencePolicy {
  /** How long the whole migration may take, in seconds; 0 means no limit. */
  readonly completionSeconds: number;
  /** How long it may continue without progress, in seconds; 0 means no limit. */
  readonly progressSeconds: number;
  readonly maxDowntimeMs: number;
  readonly allowPostCopy: boolean;
  readonly allowWorkloadDisruption: boolean;
  /** The guest has host devices, which rule out post-copy and suspending. */
  readonly hasVfio: boolean;
  readonly stallDetection?: StallDetection | undefined;
}

/** The policy for a VMI. A VMI with another shape gives a `MigrationError` with the `path` of the field. */
export function convergencePolicy(
  vmi: VirtualMachineInstance,
  options: MigrationOptions,
  ephemeralDisksBytes = 0,
): ConvergencePolicy {
  const dataSize = migrationDataSize(vmi, ephemeralDisksBytes);
  return guardVmi(vmi, () => policyOf(vmi, options, dataSize));
}

function policyOf(
  vmi: VirtualMachineInstance,
  options: MigrationOptions,
  dataSize: number,
): ConvergencePolicy {
  const { allowPostCopy, allowWorkloadDisruption, maxDowntimeMs, stallDetection } = options;
  return {
    completionSeconds: acceptableCompletionSeconds(dataSize, options.completionTimeoutPerGiB),
    progressSeconds: options.progressTimeout,
    ...{ maxDowntimeMs, allowPostCopy, allowWorkloadDisruption },
    hasVfio: hasVfio(vmi),
    ...(stallDetection && { stallDetection }),
  };
}

function hasVfio({ spec }: VirtualMachineInstance): boolean {
  const { hostDevices = [], gpus = [], interfaces = [] } = spec.domain.devices ?? {};
  return hostDevices.length + gpus.length > 0 || interfaces.some(({ sriov }) => isSet(sriov));
}
