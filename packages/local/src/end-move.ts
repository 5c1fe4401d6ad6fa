import { wallTime } from "@virtkit/api/clock";
import { describeError, type Observers } from "@virtkit/api/observe";
import { MayRun } from "@virtkit/domain-manager";
import { ProcessHandle } from "@virtkit/host-primitives/process";
import { RunClaims } from "@virtkit/node-agent/claims";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { teardown } from "@virtkit/node-agent/prepare";
import { identityOf, type ProcessIdentity } from "@virtkit/node-agent/sandbox";
import type { MoveEnd } from "./conclude-move.ts";
import { removeLocalSandbox } from "./local-sandbox.ts";
import { MoveFile, type VmiMove } from "./move-file.ts";
import type { ReadyTarget } from "./move-target.ts";
import { openVmiSandbox } from "./open-vmi-sandbox.ts";
import { agentDirectory } from "./vmi-life.ts";
import { changeRecord, type LastMove, type VmiRecord } from "./vmi-record.ts";

/** A guest that was to move, and the outcome. */
export interface MovedVmi {
  readonly record: VmiRecord;
  readonly last: LastMove;
}

/** Where {@link endMove} puts things in order. */
export interface EndMoveOptions extends Pick<Observers, "log"> {
  readonly stateDirectory: string;
  readonly now?: (() => Date) | undefined;
}

/** What is known when a move is over. */
export interface EndedMove {
  readonly record: VmiRecord;
  readonly move: VmiMove;
  readonly end: MoveEnd;
  /** The target, if this process has prepared it. */
  readonly ready?: ReadyTarget | undefined;
}

/**
 * Puts record and Pods in order once it is certain who has the guest. Each part may be repeated:
 * the file is removed last.
 *
 * @throws NodeAgentError if nobody has it, or if that is not certain yet.
 */
export async function endMove(
  options: EndMoveOptions,
  { record, move, end, ready }: EndedMove,
): Promise<MovedVmi> {
  const { stateDirectory, now = wallTime, log } = options;
  const file = new MoveFile(stateDirectory, record);
  if (end.end === "open") throw notSettled(record, end);
  // The guest runs long before the last part of its old Pod is gone.
  const runsAt = end.target?.times?.["resume.after"] ?? now().getTime();
  const milliseconds = Math.max(0, Math.round(runsAt - Date.parse(move.startedAt)));
  const at = now().toISOString();
  if (end.end === "moved") {
    const downtimeMs = downtimeOf(end);
    const last: LastMove = {
      ...{ at, outcome: "moved", milliseconds },
      ...(downtimeMs === undefined ? {} : { downtimeMs }),
      ...(end.source?.decision === "committed" ? { isPostCopy: true } : {}),
    };
    const moved = await changeRecord(stateDirectory, record, {
      podUid: move.target,
      lastMove: last,
    });
    await joinGuest(moved, ready).catch((error: unknown) => {
      log?.warn({ error: describeError(error) }, "the moved guest could not be checked yet");
    });
    await removePod(stateDirectory, move.source);
    file.remove();
    const { move: _, ...settled } = moved;
    return { record: settled, last };
  }
  const why = end.source?.why ?? "its launcher gives no reason";
  const last: LastMove = { at, outcome: "stayed", why, milliseconds };
  const stayed = await changeRecord(stateDirectory, record, { lastMove: last });
  await removeTarget(stateDirectory, move, file);
  if (end.end === "lost") throw lost(record);
  const { move: _, ...settled } = stayed;
  return { record: settled, last };

  /**
   * Makes the guest the launcher's own: it runs its probes and applies changes of the VMI from now
   * on.
   */
  async function joinGuest(moved: VmiRecord, target: ReadyTarget | undefined): Promise<void> {
    if (!target) return;
    using sandbox = openVmiSandbox(stateDirectory, moved);
    const store = new RunClaims(agentDirectory(stateDirectory)).store(moved);
    const mayRun = await MayRun.claim(store, { holder: RunClaims.holderOf(sandbox) });
    await target.client.syncVmi({ ...target.request, mayRun });
  }
}

/** QEMU's own figure at the source, and from its last byte to the target's first instruction. */
function downtimeOf({ source, target }: MoveEnd): number | undefined {
  const stood = source?.stoodStillMs;
  const sent = source?.times?.["perform.after"];
  const resumed = target?.times?.["resume.after"];
  if (stood === undefined || sent === undefined || resumed === undefined) return undefined;
  return Math.max(0, Math.round(stood + resumed - sent));
}

async function removePod(stateDirectory: string, podUid: string): Promise<void> {
  await removeLocalSandbox(stateDirectory, podUid);
  await teardown(podUid, { stateDirectory: agentDirectory(stateDirectory) });
}

/** The target has no guest that may run: remove all of it, and then the file. */
export async function removeTarget(
  stateDirectory: string,
  { target }: VmiMove,
  file: MoveFile,
): Promise<void> {
  await removePod(stateDirectory, target);
  file.remove();
}

/** This process as the one that handles a move. */
export function thisProcess(): ProcessIdentity {
  using self = ProcessHandle.open(process.pid);
  return identityOf(self);
}

/** The error for a VMI whose guest is being moved by another process. */
export function isMoving({ name, move }: VmiRecord): NodeAgentError {
  const by = move ? ` (process ${move.mover.pid})` : "";
  const message = `${name} is being moved${by}; wait for that, or run: virtkit migrate --abort ${name}`;
  return new NodeAgentError("AGENT_CLAIM_HELD", message, { path: name });
}

function notSettled({ name }: VmiRecord, { source, target }: MoveEnd): NodeAgentError {
  const why = source?.why ?? target?.why ?? "its launchers have not decided yet";
  const message = `the move of ${name} is not settled: ${why}; check again: virtkit why ${name}`;
  return new NodeAgentError("AGENT_TIMEOUT", message, { path: name });
}

function lost({ name }: VmiRecord): NodeAgentError {
  const message = `${name} was lost during its move: the process that held its memory ended before the handover; start it again: virtkit run -f FILE`;
  return new NodeAgentError("AGENT_SANDBOX_GONE", message, { path: name });
}
