import { at, isSet, type JsonObject, objects, text } from "../shape.ts";
import { conditionsOf, findCondition } from "../status/conditions.ts";
import { done, type Evidence, type EvidenceByStage, waiting } from "./evidence.ts";
import { quote, sentence } from "./sentences.ts";
import type { Stage } from "./stage.ts";
import { unsyncedStage } from "./unsynced-stage.ts";

/** Stages that a phase proves: the controller or the node wrote it because they had happened. */
const proven: Readonly<Record<string, readonly Stage[]>> = {
  Scheduling: ["pod-created"],
  Scheduled: ["pod-created", "scheduled", "pod-running", "launcher-ready"],
  Running: ["pod-created", "scheduled", "pod-running", "launcher-ready", "guest-running"],
};

/** The stage that a phase waits for. */
const awaited: Readonly<Record<string, Stage>> = {
  Pending: "pod-created",
  WaitingForSync: "pod-created",
  Scheduling: "launcher-ready",
  Scheduled: "guest-running",
};

/** The phase whose recorded time applies to a stage. */
const recorded: Partial<Record<Stage, string>> = {
  "pod-created": "Scheduling",
  "launcher-ready": "Scheduled",
  "guest-running": "Running",
};

/** What the VMI itself shows about its stages; its end is handled by `addEnd`. */
export function vmiEvidence(vmi: unknown): EvidenceByStage {
  const found: EvidenceByStage = {};
  const phase = text(at(vmi, "status", "phase"));
  const admitted = admission(vmi, phase);
  if (admitted) found.admitted = admitted;
  for (const passed of [phase, ...phaseTimes(vmi).keys()]) {
    for (const stage of own(proven, passed) ?? []) found[stage] ??= done(timeOf(vmi, stage));
  }
  const next = own(awaited, phase);
  if (next) found[next] ??= waiting();
  addConditions(found, vmi, phase);
  return found;
}

/** A stored VMI has a UID, or at least a time or a phase that users cannot set. */
function admission(vmi: unknown, phase: string): Evidence | undefined {
  const created = at(vmi, "metadata", "creationTimestamp");
  return isSet(at(vmi, "metadata", "uid")) || isSet(created) || phase ? done(created) : undefined;
}

function addConditions(found: EvidenceByStage, vmi: unknown, phase: string): void {
  const conditions = conditionsOf(vmi as { status?: { conditions?: unknown } });
  const why = (type: string): string | undefined => {
    const condition = findCondition(conditions, type);
    return condition?.status === "False"
      ? sentence(text(condition.reason), text(condition.message))
      : undefined;
  };
  const sync = why("Synchronized");
  const stage = blamed(phase, sync ?? "");
  if (sync && stage) found[stage] = waiting(sync);
  const unfilled = why("DataVolumesReady");
  if (unfilled && phase === "Pending" && !sync) found["pod-created"] = waiting(unfilled);
  // Before there is a Pod the condition repeats a missing claim, which is reported above.
  const unscheduled = phase === "Scheduling" ? why("PodScheduled") : undefined;
  if (unscheduled) found.scheduled = waiting(unscheduled);
  addGuest(found, vmi, phase, why("Ready"));
}

/** The stage that a synchronisation failure holds up: the next one of the VMI's present owner. */
function blamed(phase: string, message: string): Stage | undefined {
  switch (phase) {
    case "":
    case "Pending":
      return "pod-created";
    case "Scheduling":
      return /image/.test(message) ? "pod-running" : "launcher-ready";
    case "Scheduled":
      return unsyncedStage(message);
    default:
      return undefined;
  }
}

function addGuest(
  found: EvidenceByStage,
  vmi: unknown,
  phase: string,
  unready: string | undefined,
): void {
  const conditions = conditionsOf(vmi as { status?: { conditions?: unknown } });
  const agent = findCondition(conditions, "AgentConnected");
  if (agent?.status === "True") found["agent-connected"] = done(agent.lastTransitionTime);
  else if (phase === "Running") {
    found["agent-connected"] = waiting(
      "no guest agent has answered; it is only needed for what the guest reports about itself",
    );
  }
  const ready = findCondition(conditions, "Ready");
  if (ready?.status === "True") found.ready = done(ready.lastTransitionTime);
  else if (ready?.status === "False") found.ready = waiting(unready, ready.lastTransitionTime);
  const paused = findCondition(conditions, "Paused");
  if (paused?.status === "True" && found.ready?.state !== "done") {
    found.ready = waiting(
      `the guest is paused${paused.message ? `: ${quote(text(paused.message))}` : ""}`,
      paused.lastTransitionTime,
    );
  }
}

function timeOf(vmi: unknown, stage: Stage): string | undefined {
  const phase = recorded[stage];
  return phase === undefined ? undefined : phaseTimes(vmi).get(phase);
}

/** When the VMI entered its phases, as far as that is recorded. */
export function phaseTimes(vmi: unknown): ReadonlyMap<string, string> {
  return new Map(
    objects(at(vmi, "status", "phaseTransitionTimestamps")).map((entry: JsonObject) => [
      text(entry["phase"]),
      text(entry["phaseTransitionTimestamp"]),
    ]),
  );
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
