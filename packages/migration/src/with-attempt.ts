import type { VirtualMachineInstanceMigrationState } from "@virtkit/api/schema";
import type { PlannedEvent } from "@virtkit/api/status";
import type { MigrationAttempt } from "./migrating-domain.ts";

/** The status of a migration with the launcher's report about its attempt, and the events for users. */
export function withAttempt(
  state: VirtualMachineInstanceMigrationState,
  attempt: MigrationAttempt,
): {
  readonly state: VirtualMachineInstanceMigrationState;
  readonly events: readonly PlannedEvent[];
} {
  const { uid, startTimestamp, endTimestamp, mode, failed, abortStatus, failureReason } = attempt;
  const { mode: _mode, ...rest } = state;
  const next = { ...rest, ...(startTimestamp && { startTimestamp }), ...(mode && { mode }) };
  if (!failed) return { state: next, events: [] };
  const { endTimestamp: _end, abortStatus: _abort, failureReason: _reason, ...others } = next;
  return {
    state: {
      ...others,
      failed: true,
      completed: true,
      ...(endTimestamp && { endTimestamp }),
      ...(abortStatus && { abortStatus }),
      ...(failureReason && { failureReason }),
    },
    events: [
      migrationWarning(`migration ${uid} failed: ${failureReason ?? "the reason is unknown"}`),
    ],
  };
}

/** An event that reports that a migration failed. */
export function migrationWarning(message: string): PlannedEvent {
  return { type: "Warning", reason: "Migrated", message };
}
