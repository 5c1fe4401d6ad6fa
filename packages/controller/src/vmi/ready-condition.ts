import { conditionsOf, findCondition, isRunning } from "@virtkit/api/status";
import type { PodObject } from "./cluster-objects.ts";
import { isGoingDown, isTemporary } from "./pod-state.ts";
import type { VmiPass } from "./vmi-pass.ts";

/** The VMI is ready if its guest runs and its Pod is ready. */
export function reportReady(pass: VmiPass, pod: PodObject | undefined): void {
  const type = "Ready";
  const notReady = (reason: string, message: string): void =>
    pass.setCondition({ type, status: "False", reason, message });
  if (!pod || isTemporary(pod, pass.names)) {
    notReady("PodNotExists", "the launcher Pod does not exist yet");
  } else if (isGoingDown(pod) && pass.grant?.isMoving) {
    // What ends is not the guest: nobody must replace it.
    notReady("GuestNotRunning", "the guest is on its way to another Pod");
  } else if (isGoingDown(pod)) {
    notReady("PodTerminating", "the launcher Pod is ending");
  } else if (!isRunning(pass.vmi)) {
    notReady("GuestNotRunning", "the guest is not running yet");
  } else {
    const { status, reason, message } = findCondition(conditionsOf(pod), type) ?? {
      status: "False",
      reason: "PodConditionMissing",
      message: "the launcher Pod does not say whether it is ready",
    };
    pass.setCondition({
      type,
      status,
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
    });
  }
}
