import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { mayMove, type VmiPhase, vmiPhases } from "@virtkit/api/status";

/**
 * Whether steps that a VMI may take lead from one phase to another. One write may take several
 * of them at once.
 */
function leadsTo(from: VmiPhase, to: VmiPhase): boolean {
  const reached = new Set([from]);
  for (const phase of reached)
    for (const next of vmiPhases) if (mayMove(phase, next)) reached.add(next);
  return reached.has(to);
}

/** Remembers the last phase of each VMI, and reports one that moves back. */
export class PhaseWatch {
  readonly #last = new Map<string, VmiPhase>();

  /** What is wrong with the phase that a VMI has now, after the one that it had last. */
  look(vmi: VirtualMachineInstance): string | undefined {
    const uid = String(vmi.metadata?.uid);
    const shown = vmi.status?.phase ?? "";
    const to = vmiPhases.find((phase) => phase === shown);
    if (to === undefined) return `${shown} is not a phase`;
    const from = this.#last.get(uid) ?? to;
    this.#last.set(uid, to);
    return from === to || leadsTo(from, to)
      ? undefined
      : `the phase went from ${from} to ${to || "none"}`;
  }
}
