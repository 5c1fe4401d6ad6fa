import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { entry } from "@virtkit/api/shape";
import { needsStateClaim } from "@virtkit/launcher-pod/traits";
import type { PodObject } from "./cluster-objects.ts";
import type { VmiPass } from "./vmi-pass.ts";

/**
 * Since when a guest has been in the Pod that received it, as an annotation of that Pod: networks outside the cluster follow
 * it. Undefined for other Pods, and before it has arrived.
 */
export function arrivalOf(
  { metadata }: PodObject,
  { status }: VirtualMachineInstance,
  { labels, annotations }: Names,
): { readonly key: string; readonly value: string } | undefined {
  const { migrationUid, targetNodeDomainReadyTimestamp: readyAt } = status?.migrationState ?? {};
  const migration = entry(metadata?.labels, labels.migrationJobUid);
  if (!readyAt || migration === undefined || migration !== migrationUid) return undefined;
  const [date, clock] = new Date(readyAt).toISOString().split(/[TZ.]/);
  // Readers expect Go's format.
  return { key: annotations.migrationTargetReadyTimestamp, value: `${date} ${clock} +0000 UTC` };
}

/** Whether the annotation is written with what else a move changes in the Pod, and not by the controller of migrations. */
export function isArrivalJoined({ config, vmi }: Pick<VmiPass, "config" | "vmi">): boolean {
  return !config.stepByStep && !needsStateClaim(vmi);
}
