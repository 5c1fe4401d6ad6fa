import { describeGrant } from "@virtkit/api/grant";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { firstOpenHandoff, type Handoff, handoffs, type TraceEntry } from "@virtkit/api/timeline";
import type { DomainStatus, ProbeStatus } from "@virtkit/domain-manager";
import type { LastMove, VmiEnd, VmiRecord, VmiState } from "@virtkit/local";
import { brokenMoveText } from "./broken-move.ts";
import { vmiName } from "./find-vmi.ts";
import { plain } from "./plain.ts";
import { timeline } from "./progress-lines.ts";

/** What is known about the progress of one VMI of this host. */
export interface VmiStory {
  readonly record: VmiRecord;
  readonly now: VmiState;
  readonly trace: readonly TraceEntry[];
  readonly handoffs: readonly Handoff[];
  /** Who may run the guest, in one sentence. */
  readonly grant: string;
  /** Why the post-copy of its move is broken, and what is needed; undefined if it is not. */
  readonly brokenMove?: string | undefined;
}

/** Reads a VMI's trace and asks its launcher; adds what the guest's agent did while nobody watched. */
export async function vmiStory(stateDirectory: string, record: VmiRecord): Promise<VmiStory> {
  const { agentDirectory, askWhyBroken, vmiState } = await import("@virtkit/local");
  const { RunClaims } = await import("@virtkit/node-agent/claims");
  const { noteStatus, readTrace, Trace } = await import("@virtkit/node-agent/trace");
  const directory = agentDirectory(stateDirectory);
  const uid = record.vmi.metadata?.uid ?? "";
  const now = await vmiState(stateDirectory, record);
  if (now.status) {
    const hasReadinessProbe = record.vmi.spec.readinessProbe !== undefined;
    noteStatus(new Trace(directory, uid), now.status, { hasReadinessProbe });
  }
  const trace = readTrace(directory, uid);
  const grant = describeGrant(new RunClaims(directory).grant(record));
  const list = handoffs({ vmi: endedVmi(record, now, trace), trace });
  const brokenMove = await askWhyBroken(stateDirectory, record);
  return { record, now, trace, handoffs: list, grant, brokenMove };
}

/** The VMI as a controller would have left it: with the phase that its end has. */
function endedVmi(
  { vmi }: VmiRecord,
  { end }: VmiState,
  trace: readonly TraceEntry[],
): VirtualMachineInstance {
  // A start that failed has left its reason in the trace.
  if (!end || end.kind === "Failed") return vmi;
  const ran = trace.some(
    ({ stage, state = "done" }) => stage === "guest-running" && state === "done",
  );
  const isWanted = end.kind === "PoweredOff" || end.kind === "Stopped";
  const phase = isWanted && ran ? "Succeeded" : "Failed";
  const times = end.at ? [{ phase, phaseTransitionTimestamp: end.at }] : [];
  return { ...vmi, status: { phase, reason: end.message, phaseTransitionTimestamps: times } };
}

/** How far the VMI is, or why it ended, and how long each handoff took. */
export function storyText(story: VmiStory): string {
  const { record, now, trace, handoffs: list, grant, brokenMove } = story;
  const name = vmiName(record);
  const start = Date.parse(record.createdAt);
  const why = now.end ? endText(now.end) : openText(list);
  const probes = now.end ? "" : probeLines(now.status?.probes ?? {});
  const who = now.end ? "" : `\n  ${grant}`;
  const broken = brokenMove === undefined ? "" : `\n  ${brokenMoveText(brokenMove, name)}`;
  const moved = `${moveLine(record)}${broken}`;
  return `${name}: ${now.state}${why}${probes}${who}${moved}\n\n${timeline(trace, start)}\n\nNext: ${nextSteps(now, name)}\n`;
}

/** That it moves, or how its last move went. */
function moveLine({ move, lastMove }: VmiRecord): string {
  if (move)
    return `\n  process ${move.mover.pid} has been moving it since ${plain(move.startedAt)}`;
  return lastMove ? `\n  ${moveText(lastMove)} (${plain(lastMove.at)})` : "";
}

/** How a move went, in one sentence. */
export function moveText(last: LastMove): string {
  const { outcome, why, milliseconds, downtimeMs, isPostCopy = false } = last;
  const took = `${(milliseconds / 1000).toFixed(1)} s`;
  if (outcome === "stayed") {
    return `it did not move, and still runs where it was${why ? `: ${plain(why)}` : ""} (after ${took})`;
  }
  const stood = downtimeMs === undefined ? "" : `, with a downtime of ${downtimeMs} ms`;
  return `it moved${isPostCopy ? " by post-copy" : ""} in ${took}${stood}`;
}

/** What the VMI's probes have found, a line each. */
function probeLines(probes: NonNullable<DomainStatus["probes"]>): string {
  const { readiness, liveness } = probes;
  const line = (label: string, { message }: ProbeStatus): string =>
    `\n  ${label}${message === undefined ? "" : `: the last check failed: ${plain(message)}`}`;
  const ready = { passing: "ready", pending: "not ready yet", failing: "not ready" };
  const alive = { passing: "alive", pending: "not checked yet", failing: "not alive" };
  return [
    readiness ? line(`readiness probe: ${ready[readiness.state]}`, readiness) : "",
    liveness ? line(`liveness probe: ${alive[liveness.state]}`, liveness) : "",
  ].join("");
}

function endText({ message, at }: VmiEnd): string {
  return `\n  ${plain(message)}${at ? ` (${plain(at)})` : ""}`;
}

function openText(list: readonly Handoff[]): string {
  const open = firstOpenHandoff(list);
  if (!open) return "";
  const verb = open.state === "failed" ? "failed at" : "waits for";
  return `\n  ${verb} ${open.stage}${open.reason ? `: ${plain(open.reason)}` : ""}`;
}

function nextSteps({ state }: VmiState, name: string): string {
  const again = `"virtkit run -f FILE" starts it again, "virtkit rm ${name}" removes it`;
  switch (state) {
    case "PoweredOff":
    case "Stopped":
      return again;
    case "Killed":
      return `if nobody killed it, look for "Out of memory" in dmesg; ${again}`;
    case "Crashed":
      return `check what the guest logged, and QEMU's version; ${again}`;
    case "Failed":
      return `fix that; ${again}`;
    case "Starting":
      return `virtkit why ${name} again, or virtkit rm --now ${name}`;
    case "Unknown":
      return `virtkit why ${name} again; virtkit stop --now ${name} kills it`;
    default:
      return `virtkit console ${name}, virtkit stop ${name}`;
  }
}
