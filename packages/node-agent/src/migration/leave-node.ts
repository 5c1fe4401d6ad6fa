import { until } from "@virtkit/api/clock";
import type { Grant } from "@virtkit/api/grant";
import { describeError } from "@virtkit/api/observe";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { brokenPostCopyEvent, failedMigrationEvent } from "@virtkit/api/status";
import { isLauncherError } from "@virtkit/launcher/client";
import { makeKnown } from "../move/follow-side.ts";
import { NodeAgentError } from "../node-agent-error.ts";
import type { GuestClient } from "../service/node-host.ts";
import { grantOf } from "../service/vmi-grant.ts";
import { certificateFor, isUncertified } from "./certificate-for.ts";
import type { FollowedSide } from "./followed-side.ts";
import { isUnderWay, type LauncherWord, timeOf } from "./launcher-attempt.ts";
import type { MigrationPass, MigrationScene } from "./migration-scene.ts";
import { requireService } from "./migration-service.ts";
import type { WayOut, WayOutOptions } from "./migration-way.ts";
import { movingClient } from "./moving-client.ts";
import { movingUid, planSourceDuty, type SourceAct, type SourceDuty } from "./plan-source-duty.ts";
import { withTransferNote } from "./transfer-note.ts";
import type { VmiGrantStore } from "./vmi-grant-store.ts";
import { writeVmi } from "./write-vmi.ts";

/** What a source works with besides the scene. */
export interface SourceParts {
  side(migrationUID: string): FollowedSide<WayOut>;
  store(join?: (vmi: VirtualMachineInstance, next: Grant) => VirtualMachineInstance): VmiGrantStore;
}

/**
 * Milliseconds for which a migration may fail to begin before it is given up: the other side may have been
 * restarted.
 */
const beginPatience = 60_000;
/** Milliseconds for the target's launcher to learn about the handover. */
const readyPatience = 20_000;
const retryInterval = 1_000;
/** Milliseconds between two attempts to open a connection again for a guest whose memory is in two places. */
const splitInterval = 5_000;
/** Milliseconds for which attempts share a certificate. */
const certificateServes = 600_000;

/** One pass of the node agent over a guest that leaves, or may have been asked to. */
export async function leaveNode(scene: MigrationScene, parts: SourceParts): Promise<MigrationPass> {
  const { vmi, hold, context, nodeName: node } = scene;
  const grant = grantOf(vmi, context.names);
  const holder = context.holderOf(hold.record);
  const uid = movingUid({ vmi, grant, holder }, node);
  if (uid === undefined) return { owns: false };
  const side = parts.side(uid);
  const now = context.wall().getTime();
  const word = await side.look(movingClient(hold.client));
  const duty = planSourceDuty({
    ...{ vmi, grant, holder, node, word, now, config: scene.config() },
    domain: hold.domain,
    hasEnded: hold.hasEnded,
    wayTo: side.way?.target,
    hopeless: hopelessness(side, now),
  });
  if (duty.closeWay) await side.closeWay();
  try {
    await carryOut(duty.act, scene, parts, side);
    if (duty.act.do === "begin") side.trouble = undefined;
  } catch (error) {
    context.signal.throwIfAborted();
    // A guest whose memory is in two places is not given up.
    const isSplit = duty.act.do === "reopen";
    if (!isSplit) noteTrouble(side, error, now);
    context.log.warn(
      { migrationUID: uid, act: duty.act.do, error: describeError(error) },
      "a guest cannot leave yet",
    );
    return { owns: duty.owns, next: isSplit ? splitInterval : retryInterval };
  }
  const pass = await tell(duty, scene, side);
  // In a separate write: if admission of an earlier release rejects a figure, nothing else is blocked.
  if (!duty.migrationState) await note(duty, scene, side);
  return pass;
}

/** Reports the progress. It is only for people: if it cannot be written, it is not retried. */
async function note(
  { transfer }: SourceDuty,
  scene: MigrationScene,
  side: FollowedSide<WayOut>,
): Promise<void> {
  if (transfer === undefined || side.isUnnoted) return;
  const { vmi, context } = scene;
  try {
    await writeVmi(scene, withTransferNote(vmi, transfer, context.names), []);
  } catch (error) {
    context.signal.throwIfAborted();
    side.isUnnoted = true;
    const { migrationUID } = side;
    context.log.debug({ migrationUID, error: describeError(error) }, "its progress is not visible");
  }
}

async function tell(
  duty: SourceDuty,
  scene: MigrationScene,
  side: FollowedSide<WayOut>,
): Promise<MigrationPass> {
  const { vmi } = scene;
  const { migrationState, owns } = duty;
  const after = migrationState && { ...vmi, status: { ...vmi.status, migrationState } };
  const why = whyBroken(side.word);
  const isNew = why !== undefined && why !== side.toldWhy;
  const isWritten = await writeVmi(scene, after, [
    ...duty.events,
    ...(isNew ? [brokenPostCopyEvent(why)] : []),
  ]);
  if (!isWritten) return { owns, next: retryInterval };
  side.toldWhy = why;
  const { requeueSeconds: seconds } = duty;
  // The write comes back through the watch, and starts the next pass.
  return { owns: owns || after !== undefined, next: seconds && seconds * 1_000 };
}

/** What must be done about a broken post-copy; undefined if it did not break, or was recovered. */
function whyBroken(word: LauncherWord | undefined): string | undefined {
  return isUnderWay(word) && word.outcome === "broken" ? word.why : undefined;
}

function hopelessness({ trouble }: FollowedSide, now: number): string | undefined {
  if (!trouble || (!trouble.isFinal && now - trouble.since < beginPatience)) return undefined;
  return `it could not begin: ${trouble.why}`;
}

/** A rejection by a launcher or the signer is final; anything else may pass. */
function noteTrouble(side: FollowedSide, error: unknown, now: number): void {
  const isFinal = error instanceof Refused || isUncertified(error);
  const why = error instanceof Error ? error.message.slice(0, 512) : String(error);
  side.trouble = { since: side.trouble?.since ?? now, why, isFinal };
}

/** The launcher has answered, and will not begin. */
class Refused extends Error {}

async function carryOut(
  act: SourceAct,
  scene: MigrationScene,
  parts: SourceParts,
  side: FollowedSide<WayOut>,
): Promise<void> {
  const { hold, context } = scene;
  const { effects, signal } = context;
  switch (act.do) {
    case "nothing":
      return;
    case "begin":
      await begin(act, scene, side);
      await side.look(movingClient(hold.client));
      return;
    case "reopen":
      await openOut(act, scene, side);
      return;
    case "cancel":
      await cancel(act, scene);
      return;
    case "take-back": {
      if (!act.isDecided) await cancel(act, scene);
      const store = parts.store((vmi, next) => givenUp(vmi, next, act, context.wall()));
      await makeKnown(store, { migrationUID: act.migrationUID, outcome: "aborted" });
      tellGivenUp(act, scene);
      return;
    }
    case "leave":
      await effects("delete the domain", () => clientOf(hold).delete({ signal }));
      return;
  }
}

function clientOf(hold: MigrationScene["hold"]): GuestClient {
  return hold.client ?? noAnswer(hold);
}

function noAnswer({ record }: MigrationScene["hold"]): never {
  const message = `the launcher of Pod ${record.podUid} does not answer`;
  throw new NodeAgentError("AGENT_LAUNCHER", message, { path: "launcher" });
}

/** Opens the connection to the target, in place of an earlier one. */
async function openOut(
  to: Pick<WayOutOptions, "migrationUID" | "target" | "encryption">,
  scene: MigrationScene,
  side: FollowedSide<WayOut>,
): Promise<WayOut> {
  const { hold, context, service } = scene;
  const open = hold.launcher?.openWayOut?.bind(hold.launcher);
  if (!open) throw new Refused("the launcher of the guest cannot move it");
  const now = context.wall().getTime();
  if (!side.credentials || now - side.certifiedAt > certificateServes) {
    const own = requireService(service);
    side.credentials = await certificateFor("source", scene, to.migrationUID, own);
    side.certifiedAt = now;
  }
  const { credentials } = side;
  await side.closeWay();
  const way = await context.effects("open the way out", () =>
    open({ ...to, credentials, log: context.log }),
  );
  side.way = way;
  side.credentials = undefined;
  return way;
}

async function begin(
  { migration, order, encryption }: Extract<SourceAct, { do: "begin" }>,
  scene: MigrationScene,
  side: FollowedSide<WayOut>,
): Promise<void> {
  const { hold, context } = scene;
  const { effects, signal, clock } = context;
  const client = movingClient(hold.client);
  if (!client) throw new Refused("the launcher of the guest cannot move it");
  const { migrationUID } = migration;
  const { target } = order;
  const way = await openOut({ migrationUID, target, encryption }, scene, side);
  const patience = { clock, interval: 100, timeout: readyPatience, signal };
  const isReady = await until(
    async () => ((await way.isReady(migration, { signal })) ? true : undefined),
    patience,
  );
  if (!isReady) {
    const message = `the target's launcher did not answer at ${target.address} within ${readyPatience} ms`;
    throw new NodeAgentError("AGENT_TIMEOUT", message, { path: "target" });
  }
  const { sockets } = way;
  const request = {
    ...{ migration, holder: context.holderOf(hold.record) },
    ...{ vmi: order.vmi, options: order.options },
    // Only the target's certificate has this name.
    ...(encryption === "qemu" ? { tls: { destination: migrationUID } } : {}),
    uris: { memory: `unix://${sockets.memory}`, disks: `unix://${sockets.disks}` },
    ...{ peer: sockets.peer, serve: sockets.serve },
  };
  try {
    await effects("begin the migration", () => client.migrate(request, { signal }));
  } catch (error) {
    if (isLauncherError(error) && error.code === "LAUNCHER_CLOSED") throw error;
    throw new Refused(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/**
 * If it is too late the guest moves, which its launcher reports. Without a connection to the launcher nothing is
 * cancelled, and the grant must not say that it is.
 */
async function cancel(
  { migrationUID, reason }: { readonly migrationUID: string; readonly reason: string },
  { hold, context }: MigrationScene,
): Promise<void> {
  const { effects, signal } = context;
  const client = movingClient(hold.client) ?? noAnswer(hold);
  try {
    await effects("cancel the migration", () =>
      client.cancelMigration({ migrationUID, reason }, { signal }),
    );
  } catch (error) {
    // A launcher of an earlier release, without this verb, cannot have begun anything.
    if (!isLauncherError(error) || error.code !== "LAUNCHER_VERB") throw error;
  }
}

/** Who has failed before is known from the status, and has reported it. */
function tellGivenUp(
  { migrationUID, reason, isDecided }: Extract<SourceAct, { do: "take-back" }>,
  { vmi, recorder, context }: MigrationScene,
): void {
  const { migrationUid, failed } = vmi.status?.migrationState ?? {};
  if (isDecided || failed || migrationUid !== migrationUID) return;
  recorder.record(context.vmis, vmi, failedMigrationEvent(migrationUID, reason));
}

/** The same write reports the failure and returns the grant. */
function givenUp(
  vmi: VirtualMachineInstance,
  next: Grant,
  { migrationUID, reason }: { readonly migrationUID: string; readonly reason: string },
  now: Date,
): VirtualMachineInstance {
  const state = vmi.status?.migrationState;
  if (next.state !== "Claimed" || state?.migrationUid !== migrationUID) return vmi;
  const time = timeOf(now.getTime());
  const migrationState = {
    ...state,
    ...{ failed: true, completed: true },
    ...(time ? { endTimestamp: state.endTimestamp ?? time } : {}),
    failureReason: state.failureReason ?? reason,
    ...(state.abortRequested ? { abortStatus: "Succeeded" as const } : {}),
  };
  return { ...vmi, status: { ...vmi.status, migrationState } };
}
