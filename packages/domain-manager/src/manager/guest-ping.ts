import type { FoundDomain } from "./guest-domain.ts";

/** Pause reasons of a healthy guest. */
const wellReasons = [
  ...["user", "migration", "save", "dump", "fromSnapshot", "shuttingDown", "snapshot"],
  ...["startingUp", "postcopy"],
];

/** Whether a guest's agent is silent for a good reason, so that a probe must not count it as dead. */
export function isSilentButWell(found: FoundDomain | undefined): boolean {
  // Does not exist yet: the target of a migration, or about to be started.
  if (!found) return true;
  return found.state === "paused" && wellReasons.includes(found.reason);
}
