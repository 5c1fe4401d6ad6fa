import { join } from "node:path";
import { type Clock, until, wallTime } from "@virtkit/api/clock";
import { describeError, type Log, type Observers } from "@virtkit/api/observe";
import { type DomainStatus, isOff } from "@virtkit/domain-manager";
import type { LauncherClient } from "@virtkit/launcher/client";
import { isNodeAgentError, NodeAgentError } from "@virtkit/node-agent/errors";
import { currentBootId, hasEnded } from "@virtkit/node-agent/sandbox";
import { isReady } from "@virtkit/node-agent/trace";
import { readEndNote, writeEndNote } from "./end-note.ts";
import { judgeVmi, type VmiEnd, type VmiFacts, type VmiState } from "./judge-vmi.ts";
import { isAlive, localLauncher, removeLocalSandbox, stopLocalSandbox } from "./local-sandbox.ts";
import { MoveFile, type VmiMove } from "./move-file.ts";
import { openVmiSandbox } from "./open-vmi-sandbox.ts";
import { podsOf, removeRecord, type VmiRecord } from "./vmi-record.ts";

/** Below the state directory: the node agent's files, such as journals, claims and traces. */
export function agentDirectory(stateDirectory: string): string {
  return join(stateDirectory, "agent");
}

/** Connects to the launcher of a VMI that runs. */
export async function connectVmi(
  stateDirectory: string,
  record: VmiRecord,
  options: { readonly readyTimeout?: number } = {},
): Promise<LauncherClient> {
  using sandbox = openVmiSandbox(stateDirectory, record);
  // Loaded on use, here and below: to list VMIs that have ended takes none of it.
  const { reachLauncher } = await import("@virtkit/node-agent/run");
  return await reachLauncher(record.vmi, sandbox, options);
}

/**
 * Whether a guest has passed its readiness probe; true without one, and undefined if it does not
 * run.
 */
export function readinessOf({ state, status }: VmiState): boolean | undefined {
  if (state !== "Running" || !status) return undefined;
  return isReady(status, status.probes?.readiness !== undefined);
}

/**
 * Returns the state of a VMI, from its launcher, its trace and the note about its end; never waits
 * long.
 */
export async function vmiState(
  stateDirectory: string,
  record: VmiRecord,
  { log }: Pick<Observers, "log"> = {},
): Promise<VmiState> {
  // Asked first: what has ended since then has left its note.
  const status = await launcherStatus(stateDirectory, record, log);
  return judgeVmi({ ...(await factsOf(stateDirectory, record)), status });
}

async function factsOf(stateDirectory: string, record: VmiRecord): Promise<VmiFacts> {
  const { readTrace } = await import("@virtkit/node-agent/trace");
  return {
    isAlive: isAlive(stateDirectory, record.podUid),
    starterLives: !hasEnded(record.starter),
    isClaimed: await isClaimed(stateDirectory, record),
    trace: readTrace(agentDirectory(stateDirectory), record.vmi.metadata?.uid ?? ""),
    note: readEndNote(stateDirectory, record.podUid),
    hasRebooted: record.starter.bootId !== currentBootId(),
  };
}

async function launcherStatus(
  stateDirectory: string,
  record: VmiRecord,
  log?: Log,
): Promise<DomainStatus | undefined> {
  if (!isAlive(stateDirectory, record.podUid)) return undefined;
  try {
    await using guest = await connectVmi(stateDirectory, record, { readyTimeout: 0 });
    return await guest.status({ timeout: 5_000 });
  } catch (error) {
    log?.debug({ error: describeError(error) }, "the launcher does not report its guest's state");
    return undefined;
  }
}

/**
 * Whether the VMI's guest may have been started. An unreadable claim does not prove that it was
 * not.
 */
async function isClaimed(stateDirectory: string, record: VmiRecord): Promise<boolean> {
  const { RunClaims } = await import("@virtkit/node-agent/claims");
  try {
    return new RunClaims(agentDirectory(stateDirectory)).holder(record)?.podUid === record.podUid;
  } catch {
    // As above; whoever starts the guest is told why the claim cannot be read.
    return true;
  }
}

const noteInterval = 25;
const noteTimeout = 5_000;

/**
 * Waits until the end of a VMI whose guest no longer runs is recorded, or nobody is left to record
 * it.
 */
async function untilNoted(
  stateDirectory: string,
  { podUid }: Pick<VmiRecord, "podUid">,
  clock?: Clock,
): Promise<void> {
  const isOver = (): boolean =>
    readEndNote(stateDirectory, podUid) !== undefined || !isAlive(stateDirectory, podUid);
  await until(isOver, { clock, interval: noteInterval, timeout: noteTimeout });
}

/**
 * How a VMI ended, after it was seen to end; waits a moment for its launcher's note. Undefined if it
 * has not ended after all.
 */
export async function vmiEnd(
  stateDirectory: string,
  record: VmiRecord,
  { clock }: { readonly clock?: Clock } = {},
): Promise<VmiEnd | undefined> {
  await untilNoted(stateDirectory, record, clock);
  return (await vmiState(stateDirectory, record)).end;
}

/**
 * Whether a VMI can be removed without ending a guest that runs or is being started: it has ended,
 * or its starter has.
 */
export async function isAbandoned(stateDirectory: string, record: VmiRecord): Promise<boolean> {
  const state = await vmiState(stateDirectory, record);
  return state.end !== undefined || isOff(state);
}

/**
 * Ends the launcher of an abandoned start, unless a guest may run. Its files stay for inspection.
 */
export async function endFailedStart(stateDirectory: string, record: VmiRecord): Promise<void> {
  const status = await launcherStatus(stateDirectory, record);
  const facts = await factsOf(stateDirectory, record);
  const { state } = judgeVmi({ ...facts, status, starterLives: false });
  if (state === "Failed") await stopLocalSandbox(stateDirectory, record.podUid);
}

/** How {@link stopVmi} stops. */
export interface StopOptions {
  /** Seconds that the guest has to shut down; 0 kills it at once. Default: its own grace period. */
  readonly gracePeriod?: number;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly signal?: AbortSignal;
}

/**
 * Asks the guest to shut down, kills it when its grace period is over, and removes its cgroup and
 * network. Resolves when nothing of it runs, which its empty cgroup proves. Its files stay until
 * {@link removeVmi}. Writes nothing, so that it works on a full disk; several processes may stop
 * one VMI at once.
 */
export async function stopVmi(
  stateDirectory: string,
  record: Pick<VmiRecord, "name" | "podUid" | "vmi" | "move">,
  options: StopOptions = {},
): Promise<void> {
  if (record.move) await stopMove(stateDirectory, record.move, record.name, options);
  const hadEnded = !isAlive(stateDirectory, record.podUid);
  try {
    using sandbox = openVmiSandbox(stateDirectory, record);
    const { endGuest } = await import("@virtkit/node-agent/run");
    await endGuest(record.vmi, sandbox, { readyTimeout: 10_000, ...options });
    await untilNoted(stateDirectory, record, options.clock);
  } catch (error) {
    // A launcher that has ended, perhaps by another stop meanwhile, or never started, is ended with
    // everything in its cgroup.
    const codes: readonly string[] = ["AGENT_SANDBOX_GONE", "AGENT_TIMEOUT"];
    const isOver =
      (isNodeAgentError(error) && codes.includes(error.code)) ||
      localLauncher(stateDirectory, record.podUid) === undefined;
    // A caller that gives the guest no time does not wait for its launcher's note either.
    if (!isOver && options.gracePeriod !== 0) throw error;
  }
  await stopLocalSandbox(stateDirectory, record.podUid, options);
  if (hadEnded || readEndNote(stateDirectory, record.podUid)?.end) return;
  const message =
    "it was stopped before its guest ran, or its launcher could not report how it ended";
  const at = wallTime().toISOString();
  writeEndNote(stateDirectory, record.podUid, { kind: "Stopped", message, at });
}

/**
 * A moving guest is not asked to shut down: the mover would not know. It is killed, if that was
 * requested.
 */
async function stopMove(
  stateDirectory: string,
  { target, source, mover }: VmiMove,
  name: string,
  { gracePeriod, clock }: StopOptions,
): Promise<void> {
  if (gracePeriod !== 0) {
    const message = `${name} is being moved (process ${mover.pid}); wait for that, or run: virtkit migrate --abort ${name}`;
    throw new NodeAgentError("AGENT_CLAIM_HELD", message, { path: name });
  }
  for (const podUid of [source, target]) await stopLocalSandbox(stateDirectory, podUid, { clock });
}

/**
 * Removes everything of a VMI; kills it if it runs. After a crash at any point it can be repeated.
 */
export async function removeVmi(stateDirectory: string, record: VmiRecord): Promise<void> {
  const { RunClaims } = await import("@virtkit/node-agent/claims");
  const { teardown } = await import("@virtkit/node-agent/prepare");
  const { removeTrace } = await import("@virtkit/node-agent/trace");
  const agent = agentDirectory(stateDirectory);
  for (const podUid of podsOf(record)) {
    await removeLocalSandbox(stateDirectory, podUid);
    await teardown(podUid, { stateDirectory: agent });
  }
  new RunClaims(agent).forget(record);
  removeTrace(agent, record.vmi.metadata?.uid ?? "");
  new MoveFile(stateDirectory, record).remove();
  await removeRecord(stateDirectory, record);
}
