import type { VirtualMachineInstanceMigrationState } from "@virtkit/api/schema";
import type { PlannedEvent } from "@virtkit/api/status";
import type { MigratingDomain } from "../../migrating-domain.ts";
import { isDecentralized, isOver } from "../../migration-phase.ts";
import { migrationWarning, withAttempt } from "../../with-attempt.ts";
import { isActive } from "./is-active.ts";

/** What a requested abort has led to. */
export interface AbortOutcome {
  readonly state: VirtualMachineInstanceMigrationState;
  /** Whether the source must end the migration first. */
  readonly waits: boolean;
  readonly events: readonly PlannedEvent[];
}

/**
 * Settles the abort of a migration between clusters, of which the target has a status of its own. A copy that
 * runs is not aborted any more; otherwise the source ends first, since it still sends.
 */
export function settleAbort(
  state: VirtualMachineInstanceMigrationState,
  domain: MigratingDomain | undefined,
): AbortOutcome {
  const asked = state.abortRequested === true && isDecentralized(state) && !isOver(state);
  if (!asked) return { state, waits: false, events: [] };
  const { state: known, events } = withProgress(state, domain);
  if (isOver(known) || isActive(domain)) return { state: known, waits: false, events };
  if (!known.endTimestamp) return { state: known, waits: true, events };
  return {
    state: {
      ...known,
      failed: true,
      completed: true,
      abortStatus: known.abortStatus || "Succeeded",
      failureReason: known.failureReason || "the migration was aborted",
    },
    waits: false,
    events: [...events, migrationWarning("the migration was aborted")],
  };
}

/** What the target's launcher reports about a migration between clusters. */
export function withProgress(
  state: VirtualMachineInstanceMigrationState,
  domain: MigratingDomain | undefined,
): Pick<AbortOutcome, "state" | "events"> {
  const attempt = domain?.migration;
  const isOurs = isDecentralized(state) && attempt?.uid === state.targetState?.migrationUID;
  if (!attempt || !isOurs) return { state, events: [] };
  return withAttempt(state, attempt);
}
