import type { MigrationFault } from "./migration-fault.ts";
import type { FaultPhase } from "./migration-hold.ts";

/** Where a guest may be after a fault. */
export type MigrationFaultOutcome = "stays" | "moves" | "cold";

const outcomes: readonly MigrationFaultOutcome[] = ["stays", "moves", "cold"];

/** Whether a fault ends the only QEMU with the guest's memory. */
export function mayBeCold(fault: MigrationFault, phase: FaultPhase): boolean {
  if (fault === "source launcher" || fault === "source node lost") return true;
  return fault === "target launcher" && phase === "Succeeded";
}

/**
 * Where the guest may be after a fault: where the document says, or started cold if the fault ended its memory. Anything
 * else is a change that somebody must have wanted: with `isUpdate` the guest may also be on either node, but it never may have
 * lost its memory for nothing.
 *
 * @param known the outcome in the document as it was before the run.
 */
export function allowedOutcomes(
  fault: MigrationFault,
  phase: FaultPhase,
  { known, isUpdate }: { readonly known: string | undefined; readonly isUpdate: boolean },
): readonly MigrationFaultOutcome[] {
  return outcomes.filter((outcome) =>
    outcome === "cold" ? mayBeCold(fault, phase) : isUpdate || outcome === known,
  );
}
