import { type Names, names } from "@virtkit/api/names";
import type { ObjectMeta, VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { readList } from "./read-list.ts";

/** How long a target Pod may be pending before its migration fails, in seconds. */
export interface PendingPodTimeouts {
  /** While the scheduler finds no node for it. */
  readonly unschedulableSeconds: number;
  /** For whatever reason: images may take long to pull. */
  readonly catchAllSeconds: number;
}

/** A Pod: the parts that show how long it waits for a node. */
export interface PendingPod {
  readonly metadata?: ObjectMeta;
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { type?: string; status?: string; reason?: string }[];
  };
}

const kubevirtNames = names();

/**
 * The timeouts of a migration: its annotations, or 5 and 15 minutes. An annotation that is not a 64-bit integer is
 * ignored.
 */
export function pendingPodTimeouts(
  migration: VirtualMachineInstanceMigration,
  { annotations }: Names = kubevirtNames,
): PendingPodTimeouts {
  const own = migration?.metadata?.annotations ?? {};
  return {
    unschedulableSeconds: seconds(own[annotations.migrationUnschedulablePodTimeout]) ?? 300,
    catchAllSeconds: seconds(own[annotations.migrationPendingPodTimeout]) ?? 900,
  };
}

function seconds(text: string | undefined): number | undefined {
  if (text === undefined || !/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? Number(value) : undefined;
}

/** Whether a Pod waits because the scheduler has not found a node for it. */
export function isPendingUnschedulable({ metadata, status }: PendingPod): boolean {
  if (status?.phase !== "Pending" || metadata?.deletionTimestamp) return false;
  return readList(status.conditions ?? [], "status.conditions").some(
    ({ type, status: value, reason }) =>
      type === "PodScheduled" && value === "False" && reason === "Unschedulable",
  );
}
