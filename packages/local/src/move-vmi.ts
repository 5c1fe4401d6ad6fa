import { type Clock, wallTime } from "@virtkit/api/clock";
import { decide, type Holder } from "@virtkit/api/grant";
import { describeError, type Observers } from "@virtkit/api/observe";
import { type Random, realRandom } from "@virtkit/api/random";
import { isAlive as isGuestAlive } from "@virtkit/domain-manager";
import type { LauncherClient, MigrationReport } from "@virtkit/launcher/client";
import type { MigrationOptions } from "@virtkit/migration/source";
import { RunClaims } from "@virtkit/node-agent/claims";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { postCopySupport, userfaultfdFacts } from "@virtkit/node-agent/node-setup";
import type { Sandbox } from "@virtkit/node-agent/sandbox";
import { concludeMove, type MoveEnd, type MoveUnderWay } from "./conclude-move.ts";
import { endMove, isMoving, type MovedVmi, removeTarget, thisProcess } from "./end-move.ts";
import { handoverSockets, mountHandoverFolder } from "./handover-folder.ts";
import { keepMoveFigures, learnFigures, readMoveFigures } from "./move-figures.ts";
import { MoveFile, type VmiMove } from "./move-file.ts";
import {
  copiedSizes,
  makeTarget,
  planTarget,
  prepareTarget,
  type ReadyTarget,
  requireSameImages,
  type TargetPlan,
} from "./move-target.ts";
import { openVmiSandbox } from "./open-vmi-sandbox.ts";
import { requireRoot } from "./require-root.ts";
import { settleMove } from "./settle-move.ts";
import { agentDirectory, connectVmi, vmiState } from "./vmi-life.ts";
import type { VmiRecord } from "./vmi-record.ts";

/** What {@link moveVmi} moves, and how. */
export interface MoveVmiOptions extends Observers {
  readonly stateDirectory: string;
  readonly record: VmiRecord;
  /** What the move may do, over a cluster's defaults. */
  readonly options?: Partial<MigrationOptions>;
  /**
   * Files to which the content of claims is copied, by volume: raw, at least as large, and the
   * guest's from then on. The old ones are stale as soon as the guest runs in its new sandbox. By
   * default both sandboxes have the same files.
   */
  readonly disks?: Readonly<Record<string, string>>;
  /** Called for every report of either launcher. */
  readonly onReport?: (report: MigrationReport) => void;
  /** Called when the guest begins to move, with a handle to stop it. */
  readonly onBegun?: (move: MoveHandle) => void;
  /** The launcher's program that the guest moves to. Default: this release's. */
  readonly launcher?: string;
  readonly clock?: Clock;
  readonly now?: () => Date;
  readonly random?: Random;
  /** Ends the wait before the guest begins to move; from then on use the handle. */
  readonly signal?: AbortSignal;
}

/** Requests for a move that has begun. */
export interface MoveHandle {
  readonly move: VmiMove;
  /** Rejects if it is too late. */
  abort(reason: string): Promise<void>;
  switchToPostCopy(): Promise<void>;
}

/**
 * A cluster's defaults. Both sandboxes see each file through one page cache, so all are coherent.
 */
export const moveDefaults: MigrationOptions = {
  ...{ bandwidth: "0", progressTimeout: 150, completionTimeoutPerGiB: 150, maxDowntimeMs: 300 },
  ...{ unsafe: true, allowAutoConverge: false, allowPostCopy: false },
  allowWorkloadDisruption: false,
};

/**
 * Whether this host lets a guest move by post-copy; a kernel setting that its owner must change.
 */
export function requirePostCopy(name: string): void {
  const { supported, reason } = postCopySupport(userfaultfdFacts());
  if (supported) return;
  const message = `${name} cannot move by post-copy: ${reason}`;
  throw new NodeAgentError("AGENT_REFUSED", message, { path: name });
}

/**
 * Moves a running guest into a new sandbox on this host: another Pod of the same VMI, with
 * launcher, libvirt and QEMU as installed now. Resolves when it has moved, or has stayed; the
 * returned record is the VMI's from then on. Needs root.
 *
 * A file records the move before the first part of the new Pod is created. Whatever happens to this
 * process, `settleMove` completes the move, by the decision on disk.
 *
 * @throws NodeAgentError `AGENT_REFUSED` if the guest cannot move, with KubeVirt's reason, or not
 * by post-copy; `AGENT_CLAIM_HELD` if it is already moving; or the error of the part that could not
 * be created. The guest then keeps running where it was.
 */
export async function moveVmi(options: MoveVmiOptions): Promise<MovedVmi> {
  const { stateDirectory, record, random = realRandom, now = wallTime } = options;
  requireRoot();
  options.signal?.throwIfAborted();
  if (options.options?.allowPostCopy) requirePostCopy(record.name);
  const { status } = await vmiState(stateDirectory, record);
  if (!status || !isGuestAlive(status)) {
    const message = `${record.name} is not running; only a running guest can move`;
    throw new NodeAgentError("AGENT_SANDBOX_GONE", message, { path: record.name });
  }
  const startedAt = now();
  const move: VmiMove = {
    ...{ migrationUID: random.uuid(), source: record.podUid, target: random.uuid() },
    ...{ mover: thisProcess(), startedAt: startedAt.toISOString() },
  };
  const sizes = copiedSizes(stateDirectory, record, options.disks);
  const planned = planTarget({ ...options, move, status });
  const file = new MoveFile(stateDirectory, record);
  if (!file.begin(move)) throw isMoving(record);
  try {
    await makeTarget({ ...options, move, status }, planned);
  } catch (error) {
    await removeTarget(stateDirectory, move, file);
    throw error;
  }
  using source = openVmiSandbox(stateDirectory, record);
  using target = openVmiSandbox(stateDirectory, { ...record, podUid: move.target });
  const moving = { ...record, move };
  const scene: Scene = {
    options: { ...options, record: moving },
    move,
    planned,
    source,
    target,
    sizes,
  };
  let begun: Begun;
  try {
    begun = await beginMove(scene, status.uuid ?? "");
  } catch (error) {
    await takeBack(scene, error);
    throw error;
  }
  options.onBegun?.(begun.handle);
  try {
    const end = await concludeMove(begun.underWay);
    if (end.end === "moved") learn(options, move, end);
    return await endMove(options, { record: moving, move, end, ready: begun.ready });
  } finally {
    await begun.close();
  }
}

/** The next forecast uses what was measured here. */
function learn({ options = {}, log }: MoveVmiOptions, move: VmiMove, end: MoveEnd): void {
  const isLimited = options.bandwidth !== undefined || options.allowPostCopy === true;
  try {
    keepMoveFigures(learnFigures(readMoveFigures(), move, end, isLimited));
  } catch (error) {
    log?.info({ error: describeError(error) }, "the figures of the move could not be saved");
  }
}

interface Scene {
  readonly options: MoveVmiOptions;
  readonly move: VmiMove;
  readonly planned: TargetPlan;
  readonly source: Sandbox;
  readonly target: Sandbox;
  /** Of volumes that are copied to other files. */
  readonly sizes: Readonly<Record<string, number>>;
}

interface Begun {
  readonly underWay: MoveUnderWay;
  readonly handle: MoveHandle;
  readonly ready: ReadyTarget;
  close(): Promise<void>;
}

/** Prepares both sides, hands the grant over, and has the launchers begin. */
async function beginMove(scene: Scene, domain: string): Promise<Begun> {
  const { options, move, planned, source, target, sizes } = scene;
  const { stateDirectory, record, onReport, clock, log } = options;
  const { migrationUID } = move;
  const ready = await prepareTarget({ ...options, move, status: noStatus }, planned, target);
  let leaving: LauncherClient | undefined;
  try {
    requireSameImages(planned.vmi, source, target);
    await mountHandoverFolder(stateDirectory, move, source);
    leaving = await connectVmi(stateDirectory, record);
    const store = new RunClaims(agentDirectory(stateDirectory)).store(record);
    const holders = {
      source: RunClaims.holderOf(source),
      target: RunClaims.holderOf(target),
    };
    options.signal?.throwIfAborted();
    const migration = await handOver(store, holders.target, migrationUID, record);
    const sockets = handoverSockets(move);
    const { vmi } = planned;
    const copies = vmi.status?.migrationMethod === "BlockMigration";
    const { context, pod } = ready.request;
    await ready.client.receiveMigration({
      ...{ migration, holder: holders.target, domain },
      guest: { vmi: ready.request.vmi, context, ...(pod ? { pod } : {}) },
      listen: `unix://${sockets.memory}`,
      ...(copies ? { listenDisks: `unix://${sockets.disks}`, sizes } : {}),
      ...{ peer: sockets.source, serve: sockets.target },
    });
    await leaving.migrate({
      ...{ migration, holder: holders.source, vmi },
      options: { ...moveDefaults, ...options.options },
      uris: { memory: `unix://${sockets.memory}`, disks: `unix://${sockets.disks}` },
      ...{ peer: sockets.target, serve: sockets.source },
    });
    const client = leaving;
    return {
      ready,
      underWay: {
        ...{ stateDirectory, move, store, onReport, clock, log },
        source: { holder: holders.source, client },
        target: { holder: holders.target, client: ready.client },
      },
      handle: {
        move,
        abort: (reason) => client.cancelMigration({ migrationUID, reason }),
        switchToPostCopy: () => client.switchToPostCopy({ migrationUID }),
      },
      async close() {
        await client.close();
        await ready.client.close();
      },
    };
  } catch (error) {
    await leaving?.close();
    await ready.client.close();
    throw error;
  }
}

const noStatus = {
  name: "",
  state: "NoState",
  reason: "",
  agent: "disconnected",
  interfaces: [],
  disks: [],
} as const;

/** From here on the target may receive, and the source decides. */
async function handOver(
  store: MoveUnderWay["store"],
  target: Holder,
  migrationUID: string,
  { name }: VmiRecord,
): Promise<{ migrationUID: string; vmiUID: string; epoch: number; seq: number }> {
  const asked = { target, migrationUID, remembered: true, sourceRuns: true } as const;
  const read = await store.read();
  const verdict = decide(read.grant, { kind: "handOver", ...asked });
  if ("refused" in verdict) {
    throw new NodeAgentError("AGENT_CLAIM_HELD", `${name} cannot move: ${verdict.reason}`);
  }
  if (!(await store.swap(read, verdict.grant))) {
    const message = `${name}: its run grant has changed; try again`;
    throw new NodeAgentError("AGENT_CLAIM_HELD", message, { path: name });
  }
  const { vmiUID, epoch, seq } = verdict.grant;
  return { migrationUID, vmiUID, epoch, seq };
}

/**
 * Undoes what could not begin, as far as its source agrees; otherwise the file stays for the next
 * process.
 */
async function takeBack({ options, move }: Scene, cause: unknown): Promise<void> {
  try {
    await settleMove({ ...options, abort: describeError(cause) });
  } catch (error) {
    options.log?.warn({ error: describeError(error), move }, "the move could not be undone yet");
  }
}
