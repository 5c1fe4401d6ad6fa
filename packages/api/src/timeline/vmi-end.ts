import { at, text } from "../shape.ts";
import { done, type EvidenceByStage, failed } from "./evidence.ts";
import { sentence } from "./sentences.ts";
import { type Stage, stages } from "./stage.ts";
import { phaseTimes } from "./vmi-evidence.ts";

/**
 * Adds the end of a VMI to the combined evidence; returns the stage at which it ended, or `undefined` if it has
 * not ended. What waited then waits no more: nobody knows whether it would have happened.
 */
export function addEnd(found: EvidenceByStage, vmi: unknown): Stage | undefined {
  const phase = text(at(vmi, "status", "phase"));
  if (phase !== "Succeeded" && phase !== "Failed") return undefined;
  const when = phaseTimes(vmi).get(phase);
  const end = phase === "Succeeded" ? addShutdown(found, when) : addFailure(found, vmi, when);
  for (const stage of stages) if (found[stage]?.state === "waiting") delete found[stage];
  return end;
}

function addShutdown(found: EvidenceByStage, when: string | undefined): Stage {
  const ran = found["guest-running"];
  found["guest-running"] = done(ran?.state === "done" ? ran.at : undefined);
  found.ready = failed("the guest has shut down", when);
  return "ready";
}

function addFailure(found: EvidenceByStage, vmi: unknown, when: string | undefined): Stage {
  const reason = text(at(vmi, "status", "reason"));
  const told = reason ? sentence(reason, "") : undefined;
  if (found["guest-running"]?.state === "done") {
    const why = told ?? podFailure(found);
    found["guest-running"] = failed(`the guest ran and ended in failure${after(why)}`, when);
    return "guest-running";
  }
  // A failure that a witness saw says more than the VMI's.
  const seen = stages.find((stage) => found[stage]?.state === "failed");
  if (seen) return seen;
  const stage = firstOpen(found);
  const why = told ?? found[stage]?.reason;
  found[stage] = failed(`the VMI failed before the guest ran${after(why)}`, when);
  return stage;
}

/** A Pod that failed after the guest ran did run: undoes that, and returns why it failed. */
function podFailure(found: EvidenceByStage): string | undefined {
  const pod = found["pod-running"];
  if (pod?.state !== "failed") return undefined;
  found["pod-running"] = done();
  return pod.reason;
}

function after(why: string | undefined): string {
  return why ? `: ${why}` : "";
}

/**
 * The stage that a VMI which never ran did not pass: one that was seen to wait, or the next after what is
 * proven.
 */
function firstOpen(found: EvidenceByStage): Stage {
  const lastDone = stages.findLastIndex((stage) => found[stage]?.state === "done");
  const awaited = stages.find(
    (stage, index) => index > lastDone && isOnTheWay(stage) && found[stage]?.state === "waiting",
  );
  if (awaited) return awaited;
  if (lastDone >= stages.indexOf("launcher-ready")) return "guest-running";
  return lastDone >= stages.indexOf("pod-created") ? "launcher-ready" : "pod-created";
}

/** Before the guest runs; later stages wait in every VMI that has not come so far. */
function isOnTheWay(stage: Stage): boolean {
  return stages.indexOf(stage) <= stages.indexOf("guest-running");
}
