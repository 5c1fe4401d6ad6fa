import type { DomainStatus } from "./domain-status.ts";
import type { GuestEvent } from "./guest-event.ts";
import { isAlive } from "./guest-predicates.ts";

/** An event before it has a time. */
export type Happening<Event = GuestEvent> = Event extends unknown ? Omit<Event, "at"> : never;

/** A stage that was completed, or could not be. */
export type StageHappening = Extract<Happening, { kind: "stage" }>;

/**
 * What follows from a change of the status, besides the status itself: the stages that it
 * completes. A guest that resumes after a pause completes none again; one that restarts does.
 *
 * The agent is not a condition for `ready`: a guest need not have one, although each domain has a
 * channel for it.
 */
export function changesOf(before: DomainStatus, after: DomainStatus): StageHappening[] {
  const found: StageHappening[] = [];
  const stage = (name: "guest-running" | "ready" | "agent-connected"): void => {
    found.push({ kind: "stage", stage: name, state: "done" });
  };
  const started = after.state === "Running" && !hasRun(before);
  if (started) {
    stage("guest-running");
    stage("ready");
  }
  if (after.agent === "connected" && before.agent !== "connected") stage("agent-connected");
  return found;
}

/** One that is paused before its first instruction has not run. */
function hasRun(status: DomainStatus): boolean {
  return isAlive(status) && !(status.state === "Paused" && status.reason === "StartingUp");
}
