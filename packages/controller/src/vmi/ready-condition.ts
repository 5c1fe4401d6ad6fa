import { text } from "@virtkit/api/shape";
import { conditionsOf, findCondition, hasCondition, isRunning } from "@virtkit/api/status";
import type { PodObject } from "./cluster-objects.ts";
import { endedAt, isGoingDown, isTemporary } from "./pod-state.ts";
import type { VmiPass } from "./vmi-pass.ts";

/** The VMI is ready if its guest runs and its Pod is ready. */
export function reportReady(pass: VmiPass, pod: PodObject | undefined): void {
  const type = "Ready";
  const notReady = (reason: string, message: string): void =>
    pass.setCondition({ type, status: "False", reason, message });
  if (!pod || isTemporary(pod, pass.names)) {
    notReady("PodNotExists", "the launcher Pod does not exist yet");
  } else if (isGoingDown(pod) && pass.grant?.isMoving) {
    if (isShownLater(pass, endedAt(pod))) return;
    // What ends is not the guest: nobody must replace it.
    notReady("GuestNotRunning", "the guest is on its way to another Pod");
  } else if (isGoingDown(pod)) {
    notReady("PodTerminating", "the launcher Pod is ending");
  } else if (!isRunning(pass.vmi)) {
    notReady("GuestNotRunning", "the guest is not running yet");
  } else {
    mirrorReady(pass, pod);
  }
}

/** Shows what the kubelet reports. */
function mirrorReady(pass: VmiPass, pod: PodObject): void {
  const type = "Ready";
  const { status, reason, message } = findCondition(conditionsOf(pod), type) ?? {
    status: "False",
    reason: "PodConditionMissing",
    message: "the launcher Pod does not say whether it is ready",
  };
  if (status !== "True" && isShownLater(pass, gateOpenedAt(pass, pod))) return;
  pass.setCondition({
    type,
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  });
}

/** Seconds for which a guest that moves may be between two Pods, of which neither is ready, before the VMI shows that. */
const patienceSeconds = 3;

/** Whether a VMI that is shown as ready may stay so for a moment, since something that will make it ready has just happened. */
function isShownLater(pass: VmiPass, since: number | undefined): boolean {
  const isReady = hasCondition(conditionsOf(pass.vmi), "Ready", "True");
  if (pass.config.stepByStep || since === undefined || !isReady) return false;
  const passed = (pass.now - since) / 1000;
  // A time in the future is a node's whose clock is ahead; nobody knows when that was.
  if (passed < 0 || passed >= patienceSeconds) return false;
  pass.draft.requeueAfter(patienceSeconds - passed);
  return true;
}

/** When a Pod that lacks nothing else opened its readiness gate, in ms since 1970: its kubelet is about to report it as ready. */
function gateOpenedAt({ names }: VmiPass, pod: PodObject): number | undefined {
  const conditions = conditionsOf(pod);
  if (findCondition(conditions, "Ready")?.reason !== "ReadinessGatesNotReady") return undefined;
  const gate = findCondition(conditions, names.podConditions.unpaused);
  const time = gate?.status === "True" ? Date.parse(text(gate.lastTransitionTime)) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
