import { newQuantity } from "@virtkit/api/quantity";
import { text } from "@virtkit/api/shape";
import type { PodObject } from "./cluster-objects.ts";
import { podsOf } from "./own-pods.ts";
import { launcherImageOf } from "./pod-state.ts";
import type { VmiPass } from "./vmi-pass.ts";

/** Shows the VMI's Pods and their nodes. */
export function reportActivePods(pass: VmiPass): void {
  const pods = podsOf(pass.view).map(({ metadata, spec }) => [
    text(metadata?.uid),
    text(spec?.nodeName),
  ]);
  const { activePods: _, ...status } = pass.status;
  const activePods = Object.fromEntries(pods);
  pass.status = pods.length === 0 ? status : { ...status, activePods };
}

/**
 * Shows the launcher's image, and marks a VMI whose launcher does not belong to this installation.
 */
export function reportLauncherImage(pass: VmiPass, pod: PodObject): void {
  const image = launcherImageOf(pod);
  const { launcherContainerImageVersion: _, ...status } = pass.status;
  pass.status = image ? { ...status, launcherContainerImageVersion: image } : status;
  const label = pass.names.labels.outdatedLauncherImage;
  const { [label]: __, ...labels } = pass.labels;
  const isOutdated = image !== "" && image !== pass.config.profile.image;
  pass.labels = isOutdated ? { ...labels, [label]: "" } : labels;
}

/**
 * Shows the memory that the launcher takes in addition to the guest's, which the Pod carries as an
 * annotation.
 */
export function reportMemoryOverhead(pass: VmiPass, { metadata }: PodObject): void {
  if (!pass.config.cluster.gate("VmiMemoryOverheadReport")) return;
  const note = text(metadata?.annotations?.[pass.names.annotations.memoryOverheadBytes]);
  if (!/^[+-]?\d{1,18}$/.test(note)) return;
  const memoryOverhead = newQuantity(BigInt(note), "BinarySI").toString();
  pass.status = { ...pass.status, memory: { ...pass.status.memory, memoryOverhead } };
}
