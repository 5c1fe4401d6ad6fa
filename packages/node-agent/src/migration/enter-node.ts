import { isSameHolder } from "@virtkit/api/grant";
import { describeError } from "@virtkit/api/observe";
import type { PlannedEvent } from "@virtkit/api/status";
import type { Encryption } from "@virtkit/migration/policy";
import { isBlockMigration } from "@virtkit/migration/target/agent";
import type { Credentials } from "@virtkit/pki";
import { NodeAgentError } from "../node-agent-error.ts";
import type { GuestClient } from "../service/node-host.ts";
import { grantOf } from "../service/vmi-grant.ts";
import { certificateFor, isUncertified } from "./certificate-for.ts";
import type { FollowedSide } from "./followed-side.ts";
import type { MigrationPass, MigrationScene } from "./migration-scene.ts";
import { requireService } from "./migration-service.ts";
import type { WayIn } from "./migration-way.ts";
import { movingClient } from "./moving-client.ts";
import {
  handoverTo,
  planTargetDuty,
  type TargetAct,
  type TargetDuty,
  whyDead,
} from "./plan-target-duty.ts";
import { lacksPostCopy, requirePostCopy } from "./require-post-copy.ts";
import type { VmiGrantStore } from "./vmi-grant-store.ts";
import { writeVmi } from "./write-vmi.ts";

/** What a target works with besides the scene. */
export interface TargetParts {
  side(migrationUID: string): FollowedSide<WayIn>;
  store(): VmiGrantStore;
}

const retryInterval = 1_000;
/** Milliseconds between two attempts to listen again for a guest whose memory is in two places. */
const splitInterval = 5_000;
/** Acts of one pass: prepare, then receive. */
const mostActs = 3;

/** One pass of the node agent over a guest that arrives at a launcher of this node. */
export async function enterNode(scene: MigrationScene, parts: TargetParts): Promise<MigrationPass> {
  const { vmi, context } = scene;
  const uid = vmi.status?.migrationState?.migrationUid;
  if (!uid) return { owns: false };
  const side = parts.side(uid);
  let duty = await plan(scene, side);
  try {
    for (let acts = 0; duty.act.do !== "nothing" && acts < mostActs; acts++) {
      await carryOut(duty.act, scene, parts, side);
      if (duty.act.do === "dismiss") break;
      duty = await plan(scene, side);
    }
  } catch (error) {
    context.signal.throwIfAborted();
    const next = await failed(duty.act, error, scene, side);
    if (next !== undefined) return { owns: true, next };
    duty = await plan(scene, side);
  }
  if (duty.closeWay) await side.closeWay();
  // What ends takes marks away that look the same in the next migration to this node: they must not be that one's.
  const isWritten = await writeVmi(scene, duty.vmi, duty.events, { isExclusive: duty.closeWay });
  const { requeueSeconds: seconds } = duty;
  return { owns: true, next: isWritten ? seconds && seconds * 1_000 : retryInterval };
}

/** Notes a failure. Returns the milliseconds until the next attempt; undefined if there will be none. */
async function failed(
  act: TargetAct,
  error: unknown,
  scene: MigrationScene,
  side: FollowedSide<WayIn>,
): Promise<number | undefined> {
  // A guest whose memory is in two places is not given up.
  const isSplit = act.do === "reopen";
  const isHopeless = !isSplit && (isUncertified(error) || lacksPostCopy(error));
  scene.context.log.warn(
    { migrationUID: side.migrationUID, act: act.do, error: describeError(error) },
    isHopeless ? "a guest cannot arrive" : "a guest cannot arrive yet",
  );
  if (isHopeless) {
    side.unfit = whyNot(error);
    return undefined;
  }
  if (isSplit) return splitInterval;
  await writeVmi(scene, undefined, [unprepared(error)]);
  return retryInterval;
}

async function plan(
  { vmi, hold, context, nodeName: node, config }: MigrationScene,
  side: FollowedSide<WayIn>,
): Promise<TargetDuty> {
  const word = await side.look(movingClient(hold.client));
  const { hasEnded } = hold;
  const now = context.wall().getTime();
  if (whyDead({ hasEnded, word }) !== undefined) side.deadSince ??= now;
  return planTargetDuty({
    ...{ vmi, word, node, hasEnded, config: config(), now },
    deadFor: side.deadSince === undefined ? 0 : now - side.deadSince,
    grant: grantOf(vmi, context.names),
    holder: context.holderOf(hold.record),
    domain: hold.domain,
    ...{ listener: side.way?.listener, unfit: side.unfit },
  });
}

function whyNot(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 512) : String(error);
}

function unprepared(error: unknown): PlannedEvent {
  const message = `this node is not ready for the guest yet: ${whyNot(error)}`;
  return { type: "Warning", reason: "PreparingTarget", message };
}

async function carryOut(
  act: TargetAct,
  scene: MigrationScene,
  parts: TargetParts,
  side: FollowedSide<WayIn>,
): Promise<void> {
  switch (act.do) {
    case "nothing":
      return;
    case "prepare":
      await prepare(act, scene, side);
      return;
    case "reopen":
      await listen(act, scene, side);
      return;
    case "receive":
      await receive(act, scene, side);
      return;
    case "dismiss":
      await dismiss(act, scene, parts);
      return;
  }
}

/**
 * Nothing is prepared without a certificate, or if QEMU would refuse the guest in the end. The incarnation is on disk before
 * anybody learns of it: the agent recognises its own claim by the nonce.
 */
async function prepare(
  { encryption }: Extract<TargetAct, { do: "prepare" }>,
  scene: MigrationScene,
  side: FollowedSide<WayIn>,
): Promise<void> {
  const { vmi, hold, context } = scene;
  const { effects, signal, records } = context;
  const { launcher } = hold;
  const client = clientOf(hold.client);
  if (!launcher?.openWayIn || !movingClient(client)) throw cannotReceive(hold);
  requirePostCopy(scene, requireService(scene.service));
  await certify(scene, side);
  await context.ownNode.confirm(context);
  hold.request = await effects("prepare the sandbox", () =>
    launcher.prepare(vmi, client, { signal }),
  );
  if (!hold.isRecorded) {
    await effects("write the record", () => records.write(hold.record));
    hold.isRecorded = true;
  }
  await listen({ encryption }, scene, side);
}

/** The certificate for this side of the migration: asked for once, however often its use is tried. */
async function certify(scene: MigrationScene, side: FollowedSide<WayIn>): Promise<Credentials> {
  const own = requireService(scene.service);
  side.credentials ??= await certificateFor("target", scene, side.migrationUID, own);
  return side.credentials;
}

/** Opens the connection into the launcher's sandbox. */
async function listen(
  { encryption }: { readonly encryption: Encryption },
  scene: MigrationScene,
  side: FollowedSide<WayIn>,
): Promise<void> {
  const { hold, context, service } = scene;
  const { migrationUID } = side;
  const open = hold.launcher?.openWayIn?.bind(hold.launcher);
  if (!open) throw cannotReceive(hold);
  const credentials = await certify(scene, side);
  const address = requireService(service).address();
  side.way = await context.effects("open the way in", () =>
    open({ migrationUID, credentials, encryption, address, log: context.log }),
  );
  side.credentials = undefined;
}

function cannotReceive({ record }: MigrationScene["hold"]): NodeAgentError {
  const message = `the launcher of Pod ${record.podUid} cannot receive guests`;
  return new NodeAgentError("AGENT_LAUNCHER", message, { path: "launcher" });
}

async function receive(
  { migration, encryption }: Extract<TargetAct, { do: "receive" }>,
  { vmi, hold, context }: MigrationScene,
  side: FollowedSide<WayIn>,
): Promise<void> {
  const { effects, signal } = context;
  const client = movingClient(hold.client);
  const { request } = hold;
  const { sockets } = side.way ?? {};
  const domain = vmi.spec.domain.firmware?.uuid;
  if (!client || !request || !sockets) return;
  if (!domain) {
    const path = "spec.domain.firmware.uuid";
    const message = `${path} is missing, but it identifies the arriving guest: admit the VMI with defaults`;
    throw new NodeAgentError("AGENT_VMI_INVALID", message, { path });
  }
  const { context: converted, pod } = request;
  await effects("receive the guest", () =>
    client.receiveMigration(
      {
        ...{ migration, domain, holder: context.holderOf(hold.record) },
        encrypted: encryption === "qemu",
        guest: { vmi: request.vmi, context: converted, ...(pod ? { pod } : {}) },
        listen: `unix://${sockets.memory}`,
        ...(isBlockMigration(vmi) ? { listenDisks: `unix://${sockets.disks}` } : {}),
        ...{ serve: sockets.serve, peer: sockets.peer },
      },
      { signal },
    ),
  );
}

/** Destroying requires a live read: a launcher that the grant names, and that may have a copy, is not dismissed. */
async function dismiss(
  { isEmpty }: Extract<TargetAct, { do: "dismiss" }>,
  { hold, context }: MigrationScene,
  parts: TargetParts,
): Promise<void> {
  const { effects, signal } = context;
  const holder = context.holderOf(hold.record);
  const { grant } = await parts.store().read({ signal });
  const isClaimed = grant.state === "Claimed" && isSameHolder(grant.holder, holder);
  const isHandedOver = handoverTo(grant, holder) !== undefined && !isEmpty;
  if (isClaimed || isHandedOver || hold.hasEnded) return;
  await effects("delete the domain", () => clientOf(hold.client).delete({ signal }));
}

function clientOf(client: GuestClient | undefined): GuestClient {
  if (client) return client;
  const message = "the target's launcher has not answered yet";
  throw new NodeAgentError("AGENT_LAUNCHER", message, { path: "launcher" });
}
