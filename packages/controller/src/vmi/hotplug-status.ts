import type { HotplugVolumeStatus, Volume, VolumeStatus } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import { claimNameOf } from "@virtkit/launcher-pod/traits";
import type { PodObject } from "./cluster-objects.ts";
import { claimNamed } from "./data-volumes.ts";
import { isBeingDeleted } from "./pod-state.ts";
import type { VmiPass } from "./vmi-pass.ts";

/** The progress of a hotplugged volume, up to the moment when the node takes over. */
export function hotplugStatus(
  pass: VmiPass,
  volume: Volume,
  status: VolumeStatus,
  attachment: PodObject | undefined,
): VolumeStatus {
  const phase = text(status.phase);
  const { attachPodUID: _, ...rest } = status.hotplugVolume ?? {};
  if (!attachment) {
    if (phase === "Ready") return { ...status, hotplugVolume: status.hotplugVolume ?? {} };
    return { ...status, hotplugVolume: rest, ...claimPhase(pass, volume) };
  }
  const plugged = { ...status, hotplugVolume: { ...rest, ...attachedBy(attachment) } };
  if (["", "Bound", "Pending"].includes(phase)) {
    const reason = "SuccessfulCreate";
    const message = `attachment Pod ${text(attachment.metadata?.name)} brings volume ${volume.name}`;
    pass.event("Normal", reason, message);
    return { ...plugged, phase: "AttachedToNode", reason, message };
  }
  // It was unplugged and comes back before the old Pod is gone: it starts again.
  return phase === "Detaching" ? { ...plugged, ...claimPhase(pass, volume) } : plugged;
}

/**
 * The node mounts from the Pod whose UID it is given, so the UID is only written when the Pod is
 * ready.
 */
function attachedBy({ metadata, status }: PodObject): HotplugVolumeStatus {
  const [container, ...others] = status?.containerStatuses ?? [];
  const isReady = container?.ready === true && others.length === 0;
  return {
    attachPodName: text(metadata?.name),
    ...(isReady ? { attachPodUID: text(metadata?.uid) } : {}),
  };
}

function claimPhase(
  { view }: VmiPass,
  volume: Volume,
): Required<Pick<VolumeStatus, "phase" | "reason" | "message">> {
  const name = claimNameOf(volume);
  const claim = claimNamed(view, name);
  if (!claim) {
    const message = `claim ${name} does not exist`;
    return { phase: "Pending", reason: "FailedPvcNotFound", message };
  }
  const found = claim.status?.phase ?? "Lost";
  const phase = found === "Bound" ? "Bound" : "Pending";
  return { phase, reason: "PVCNotReady", message: `claim ${name} is ${found}` };
}

/** What to show for a volume that left the spec: nothing once its Pod is gone. */
export function unplugStatus(
  pass: VmiPass,
  status: VolumeStatus,
  attachments: readonly PodObject[],
): readonly VolumeStatus[] {
  const { name } = status;
  const pod = attachments.find(({ spec }) => spec?.volumes?.some((each) => each.name === name));
  if (!pod) return [];
  const phase = ["Ready", "MountedToPod"].includes(text(status.phase)) ? status.phase : "Detaching";
  const podName = text(pod.metadata?.name);
  const attachPodUID = text(pod.metadata?.uid);
  const shown = {
    ...status,
    hotplugVolume: { ...status.hotplugVolume, attachPodName: podName, attachPodUID },
    ...(phase === undefined ? {} : { phase }),
  };
  if (phase !== "Detaching" || !isBeingDeleted(pod)) return [shown];
  const reason = "SuccessfulDelete";
  const message = `attachment Pod ${podName} of volume ${name} is being deleted`;
  pass.event("Normal", reason, message);
  return [{ ...shown, reason, message }];
}
