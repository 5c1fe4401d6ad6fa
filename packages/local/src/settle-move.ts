import type { Holder, ReadGrant } from "@virtkit/api/grant";
import { describeError, type Observers } from "@virtkit/api/observe";
import type { LauncherClient, MigrationReport } from "@virtkit/launcher/client";
import { isLauncherError } from "@virtkit/launcher/client";
import { RunClaims } from "@virtkit/node-agent/claims";
import { isUnknownMigration, makeKnown } from "@virtkit/node-agent/move";
import { hasEnded } from "@virtkit/node-agent/sandbox";
import { concludeMove, type MoveEnd, type MoveUnderWay, whoHas } from "./conclude-move.ts";
import { endMove, isMoving, type MovedVmi, thisProcess } from "./end-move.ts";
import { isAlive } from "./local-sandbox.ts";
import { MoveFile, type VmiMove } from "./move-file.ts";
import { planTarget, prepareTarget, type ReadyTarget } from "./move-target.ts";
import { openVmiSandbox } from "./open-vmi-sandbox.ts";
import { agentDirectory, connectVmi } from "./vmi-life.ts";
import type { VmiRecord } from "./vmi-record.ts";

/** The input of {@link settleMove}. */
export interface SettleMoveOptions extends Observers {
  readonly stateDirectory: string;
  readonly record: VmiRecord;
  /** Why the guest should stay, if it still can. By default a move in progress continues. */
  readonly abort?: string | undefined;
  readonly onReport?: ((report: MigrationReport) => void) | undefined;
}

/** Whether a VMI has a move that nobody handles. */
export function isMoveOrphaned({ move }: Pick<VmiRecord, "move">): boolean {
  return move !== undefined && hasEnded(move.mover);
}

/**
 * Completes a move whose mover was killed, or could not begin it: by the run grant, by what the
 * launchers say, and by the decision on the source's disk. Undefined if no move is in progress. May
 * be called at any time; of many at once, one does it.
 *
 * @throws NodeAgentError `AGENT_CLAIM_HELD` if a living process handles the move.
 */
export async function settleMove(options: SettleMoveOptions): Promise<MovedVmi | undefined> {
  const { stateDirectory, record } = options;
  const file = new MoveFile(stateDirectory, record);
  const found = file.read();
  if (!found) return undefined;
  const self = thisProcess();
  const isOurs = found.mover.pid === self.pid && found.mover.startTime === self.startTime;
  if (!isOurs && !hasEnded(found.mover)) throw isMoving({ ...record, move: found });
  const move = isOurs ? found : file.takeOver(found, self);
  if (!move) throw isMoving({ ...record, move: found });
  const moving = { ...record, move };
  const store = new RunClaims(agentDirectory(stateDirectory)).store(record);
  const { grant } = await store.read();
  const has = whoHas(grant, move);
  if (has !== "open") return await finish(options, moving, move, { end: has });
  const underWay = await reconnect(options, moving, move, store, grant);
  try {
    await begunOrAborted(options, underWay);
    return await finish(options, moving, move, await concludeMove(underWay));
  } finally {
    await underWay.source.client?.close();
    await underWay.target.client?.close();
  }
}

/** The launchers of both sides, as far as they run. */
async function reconnect(
  { stateDirectory, log, onReport }: SettleMoveOptions,
  record: VmiRecord,
  move: VmiMove,
  store: MoveUnderWay["store"],
  grant: ReadGrant,
): Promise<MoveUnderWay> {
  const side = async (podUid: string, holder: Holder): Promise<MoveUnderWay["source"]> => {
    if (!isAlive(stateDirectory, podUid)) return { holder };
    try {
      const client = await connectVmi(
        stateDirectory,
        { ...record, podUid },
        { readyTimeout: 5_000 },
      );
      return { holder, client };
    } catch (error) {
      log?.debug({ error: describeError(error), podUid }, "a launcher of the move does not answer");
      return { holder };
    }
  };
  if (!("target" in grant)) throw isMoving(record);
  return {
    ...{ stateDirectory, move, store, log, onReport },
    source: await side(move.source, grant.holder),
    target: await side(move.target, grant.target),
  };
}

/**
 * A source that was never told to begin, or is told to stay, decides so. If it is too late, the
 * move continues.
 */
async function begunOrAborted(
  { abort, log }: SettleMoveOptions,
  { source: { client }, move: { migrationUID }, store }: MoveUnderWay,
): Promise<void> {
  if (!client) return;
  const isBegun = await knows(client, migrationUID);
  if (isBegun && abort === undefined) return;
  const reason = abort ?? "the process that moved the guest has ended";
  try {
    await client.cancelMigration({ migrationUID, reason });
    // A source that never began has nobody who would tell it to the grant.
    if (!isBegun) await makeKnown(store, { migrationUID, outcome: "aborted" });
  } catch (error) {
    if (!isLauncherError(error)) throw error;
    log?.info({ error: describeError(error) }, "it is too late to abort the move");
  }
}

async function knows(client: LauncherClient, migrationUID: string): Promise<boolean> {
  try {
    await client.followMigration({ migrationUID });
    return true;
  } catch (error) {
    if (isUnknownMigration(error)) return false;
    throw error;
  }
}

/** If the guest has moved, tells its new launcher everything that the mover would have told. */
async function finish(
  options: SettleMoveOptions,
  record: VmiRecord,
  move: VmiMove,
  end: MoveEnd,
): Promise<MovedVmi> {
  const ready = end.end === "moved" ? await readyAgain(options, record, move) : undefined;
  try {
    return await endMove(options, { record, move, end, ready });
  } finally {
    await ready?.client.close();
  }
}

async function readyAgain(
  { stateDirectory, log }: SettleMoveOptions,
  record: VmiRecord,
  move: VmiMove,
): Promise<ReadyTarget | undefined> {
  try {
    const there = { ...record, podUid: move.target };
    await using client = await connectVmi(stateDirectory, there);
    const target = { stateDirectory, record: there, move, status: await client.status() };
    using sandbox = openVmiSandbox(stateDirectory, there);
    return await prepareTarget(target, planTarget(target), sandbox);
  } catch (error) {
    log?.warn({ error: describeError(error) }, "the moved guest could not be checked yet");
    return undefined;
  }
}
