import { type Stage, stages, type TraceEntry } from "@virtkit/api/timeline";
import {
  type DomainState,
  type DomainStatus,
  type GuestEnd,
  type GuestEndKind,
  isAlive,
} from "@virtkit/domain-manager";
import type { EndNote } from "./end-note.ts";

/** How and why a VMI ended. `at` is missing if nobody saw it. */
export type VmiEnd = Omit<GuestEnd, "at"> & Partial<Pick<GuestEnd, "at">>;

/** The present state of a VMI. */
export interface VmiState {
  /**
   * What its launcher says about its guest; else `Starting`, or how it ended: `Failed` is a start
   * that failed or was interrupted. `Unknown`: its launcher does not answer, and its guest may run.
   */
  readonly state: DomainState | GuestEndKind | "Starting" | "Unknown";
  readonly status?: DomainStatus;
  readonly end?: VmiEnd;
}

/** The input of {@link judgeVmi}. */
export interface VmiFacts {
  /** Whether anything of its sandbox runs. */
  readonly isAlive: boolean;
  /** What its launcher answered; missing if it did not. */
  readonly status?: DomainStatus | undefined;
  /** Whether the process that starts it, or has started it, still runs. */
  readonly starterLives: boolean;
  /** Whether someone claimed its run grant. Before that there cannot be a guest. */
  readonly isClaimed: boolean;
  readonly trace: readonly TraceEntry[];
  readonly note?: EndNote | undefined;
  /** Whether the host has booted since the VMI was started. */
  readonly hasRebooted: boolean;
}

/** Decides the state of a VMI. Unknowns are reported as such. */
export function judgeVmi(facts: VmiFacts): VmiState {
  const { status } = facts;
  const told = status ? { status } : {};
  if (status && isAlive(status)) return { state: status.state, status };
  const end = endOf(facts);
  if (end) return { state: end.kind, end, ...told };
  if (facts.isAlive && status && hasRun(facts)) return { state: status.state, status };
  const mayRun = facts.isAlive && !status && facts.isClaimed;
  if (mayRun && (hasRun(facts) || !facts.starterLives)) return { state: "Unknown" };
  return { state: "Starting", ...told };
}

function endOf(facts: VmiFacts): VmiEnd | undefined {
  const end = facts.status?.end ?? facts.note?.end;
  // Of a start that failed the trace has the reason.
  if (end?.kind === "Failed") return startFailure(facts) ?? end;
  if (end) return end;
  if (facts.note?.how === "liveness-failed") return lifeless(facts.note);
  if (hasRun(facts)) return facts.isAlive ? undefined : silentEnd(facts);
  // A launcher that does not answer may have a guest, once the grant was claimed.
  if (facts.isAlive && facts.isClaimed && !facts.status) return undefined;
  return startFailure(facts);
}

/** What a launcher says in its last note where it saw a guest. */
const lived = ["guest-ended", "shut-down", "killed-after-grace"];

function hasRun({ trace, note }: VmiFacts): boolean {
  if (note && lived.includes(note.how)) return true;
  return trace.some(({ stage, state }) => stage === "guest-running" && isDone(state));
}

/** Of a guest that its launcher ended without having seen it. */
function lifeless({ error = "no reason was given" }: EndNote): VmiEnd {
  return { kind: "Failed", message: `its liveness probe failed: ${error}` };
}

function silentEnd({ hasRebooted }: VmiFacts): VmiEnd {
  const message = hasRebooted
    ? "this host was restarted while it ran"
    : "its launcher was killed, and its guest with it";
  return { kind: "Killed", message };
}

/** Why a start has failed, or will not continue; undefined while it may. */
function startFailure({ trace, note, ...facts }: VmiFacts): VmiEnd | undefined {
  // The first stage that failed; failures of later ones follow from it.
  const [failed] = trace
    .filter(({ state }) => state === "failed")
    .sort((a, b) => stages.indexOf(a.stage) - stages.indexOf(b.stage));
  if (failed) {
    const { stage, message = "no reason was given", at } = failed;
    return { kind: "Failed", message: `${stage}: ${message}`, ...(at ? { at } : {}) };
  }
  if (note?.error !== undefined && !facts.isAlive) {
    return { kind: "Failed", message: `its launcher failed: ${note.error}` };
  }
  if (facts.starterLives) return undefined;
  const who = facts.hasRebooted ? "this host was restarted" : "the process that started it ended";
  const at = trace.at(-1)?.at;
  const message = `its start was interrupted at ${openStage(trace)}: ${who}`;
  return { kind: "Failed", message, ...(at ? { at } : {}) };
}

/** The stage that a start did not complete. */
function openStage(trace: readonly TraceEntry[]): Stage {
  const last = stages.findLastIndex((stage) =>
    trace.some((entry) => entry.stage === stage && isDone(entry.state)),
  );
  return stages[last + 1] ?? "guest-running";
}

function isDone(state: TraceEntry["state"]): boolean {
  return (state ?? "done") === "done";
}
