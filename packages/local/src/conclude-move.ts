import { type Clock, realClock, sleep, until } from "@virtkit/api/clock";
import type { Grant, Holder, ReadGrant } from "@virtkit/api/grant";
import { describeError, type Observers } from "@virtkit/api/observe";
import type { GrantStore } from "@virtkit/domain-manager";
import type { LauncherClient, MigrationReport } from "@virtkit/launcher/client";
import { followSide } from "@virtkit/node-agent/move";
import { readDecision } from "./decision-on-disk.ts";
import { localNames } from "./local-names.ts";
import { isAlive, stopLocalSandbox } from "./local-sandbox.ts";
import type { VmiMove } from "./move-file.ts";
import { stopForwarder } from "./stop-forwarder.ts";

/** A move in progress, for the process that handles it. A launcher that has ended has no client. */
export interface MoveUnderWay extends Observers {
  readonly stateDirectory: string;
  readonly move: VmiMove;
  readonly store: GrantStore;
  readonly source: { readonly holder: Holder; readonly client?: LauncherClient | undefined };
  readonly target: { readonly holder: Holder; readonly client?: LauncherClient | undefined };
  readonly onReport?: ((report: MigrationReport) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * The outcome of a move. `lost`: neither side has a guest any more. `open`: it is undecided, and
 * someone has to look again.
 */
export interface MoveEnd {
  readonly end: "moved" | "stayed" | "lost" | "open";
  readonly source?: MigrationReport | undefined;
  readonly target?: MigrationReport | undefined;
}

/** How long the source's launcher may take to end its copy once the target has claimed. */
const sourcePatience = 15_000;
/** How long a launcher may take to end after its connections have ended. */
const endPatience = 20_000;
/** How long a target whose source has ended may take to resume what was released to it. */
const targetPatience = 60_000;

/**
 * Follows both sides of a move until one of them has the guest for good, and does the node agent's
 * work for each. Only the run grant says who has the guest. May be called at any time, by any
 * process.
 */
export async function concludeMove(moving: MoveUnderWay): Promise<MoveEnd> {
  const { stateDirectory, move, store, clock = realClock } = moving;
  const over = new AbortController();
  const source = followed(moving, "source", over.signal);
  const target = followed(moving, "target", over.signal);
  const now = async (): Promise<MoveEnd["end"]> => whoHas(await grantOf(store), move);
  try {
    await Promise.race([source, target]);
    if ((await now()) === "open") {
      // Whatever happens to the target, the source decides, or ends.
      const report = await source;
      if (!isBack(report) && (await now()) === "open") {
        await seeToDeadSource(moving, report);
        await Promise.race([target, sleep(clock, targetPatience, over.signal)]);
      }
    }
    const end = await now();
    if (end === "moved") await Promise.race([source, sleep(clock, sourcePatience, over.signal)]);
    over.abort();
    const reports = { source: await source, target: await target };
    if (end !== "open") return { end, ...reports };
    const isLost = [move.source, move.target].every((pod) => !isAlive(stateDirectory, pod));
    return { end: isLost ? "lost" : "open", ...reports };
  } finally {
    over.abort();
  }
}

/**
 * Whether the source never runs again: it has released its guest, or *perform* has answered after
 * the switch to post-copy. libvirt may still give up a switch alone.
 */
function hasLeft({ decision, times = {} }: MigrationReport): boolean {
  if (decision === "released") return true;
  const hasSwitched = times["switch.after"] !== undefined && times["finish.before"] !== undefined;
  return decision === "committed" && hasSwitched;
}

/** Whether the source has taken its guest back. */
function isBack(report: MigrationReport | undefined): boolean {
  return report?.settled === "runs" || report?.settled === "paused";
}

async function grantOf(store: GrantStore): Promise<ReadGrant> {
  return (await store.read()).grant;
}

/** Who has the guest for good, by the run grant. */
export function whoHas(grant: ReadGrant, { source, target }: VmiMove): "moved" | "stayed" | "open" {
  if (grant.state !== "Claimed") return "open";
  const { podUID } = (grant as Extract<Grant, { state: "Claimed" }>).holder;
  if (podUID === target) return "moved";
  return podUID === source ? "stayed" : "open";
}

/**
 * Resolves with the last report of a side; undefined if its launcher is gone or does not know about
 * the move.
 */
async function followed(
  moving: MoveUnderWay,
  side: "source" | "target",
  signal: AbortSignal,
): Promise<MigrationReport | undefined> {
  const { store, move, stateDirectory, log, onReport } = moving;
  const { client, holder } = moving[side];
  if (!client) return undefined;
  let last: MigrationReport | undefined;
  const take = (report: MigrationReport): void => {
    // Its ports now belong to the target, which may be complete only much later.
    if (hasLeft(report) && !(last && hasLeft(last))) {
      stopForwarder(localNames(stateDirectory, move.source).cgroup);
    }
    last = report;
    onReport?.(report);
  };
  try {
    const { migrationUID } = move;
    return await followSide({ client, store, migrationUID, holder, onReport: take, signal });
  } catch (error) {
    log?.debug({ error: describeError(error), side }, "one side of the move is no longer followed");
    return last;
  }
}

/**
 * A launcher that has ended cannot decide any more; its decision is on its disk. Released: the
 * target is told. Otherwise nobody ever resumes the target's copy, which ends: its memory was never
 * released, and the source's is gone.
 */
async function seeToDeadSource(
  moving: MoveUnderWay,
  report: MigrationReport | undefined,
): Promise<void> {
  const { stateDirectory, move, store, target, clock } = moving;
  // Its connections end before it does.
  const timeout = report?.settled === undefined ? endPatience : 0;
  const hasEnded = (): boolean => !isAlive(stateDirectory, move.source);
  if (!(await until(hasEnded, { clock, interval: 50, timeout }))) return;
  const grant = await grantOf(store);
  const outcome = readDecision(stateDirectory, move);
  const isReleased = outcome === "released" || grant.state === "Released";
  if (isReleased && "target" in grant && target.client) {
    const { migrationUID, vmiUID, epoch } = grant;
    const seq = identitySeq(grant);
    await target.client.releaseMigration({ migration: { migrationUID, vmiUID, epoch, seq } });
    return;
  }
  // Post-copy may be complete; the target's own launcher knows, and claims.
  if (outcome === "committed" && target.client) return;
  await stopLocalSandbox(stateDirectory, move.target);
}

/** A migration is identified by the change that began its handover; each later one counts one more. */
function identitySeq(grant: Extract<Grant, { target: Holder }>): number {
  return grant.state === "HandingOver" ? grant.seq : grant.seq - 1;
}
