import { names } from "@virtkit/api/names";
import type {
  VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrationState,
} from "@virtkit/api/schema";
import { at, objects, text } from "@virtkit/api/shape";
import {
  findBrokenPostCopy,
  findFailureReporter,
  type MigrationTransfer,
  migrationTransferAnnotation,
  readMigrationTransfer,
} from "@virtkit/api/status";
import { plain } from "../local/plain.ts";
import { readGrant } from "./held-guests.ts";

/** How a migration went, or how far it is. */
export interface MigrationStory {
  readonly name: string;
  /** `moved`, `failed`, or `moving` while it is in progress. */
  readonly outcome: "moved" | "failed" | "moving";
  /** Its phase, or the phase in which it failed. */
  readonly phase: string;
  /** For a failure, or a post-copy that is broken: who could not continue, if somebody said so. */
  readonly side?: "the control plane" | "the target" | "the source";
  readonly from: string;
  readonly to: string;
  readonly reason?: string;
  /** While it is moving: `running` if the guest's memory is on both nodes, `broken` if its stream broke. */
  readonly postCopy?: "running" | "broken";
  /** For a broken post-copy: when its source reported that, and what somebody has to do. */
  readonly reportedAt?: string;
  readonly advice?: string;
  /** How far it is, while it is moving and its node reports that. */
  readonly transfer?: MigrationTransfer;
}

/** Who works in a phase alone. In all others both sides do, and either may fail. */
const sides: Readonly<Record<string, NonNullable<MigrationStory["side"]>>> = {
  Pending: "the control plane",
  Scheduling: "the control plane",
  Scheduled: "the target",
  PreparingTarget: "the target",
};

/** Reads the story of a migration from its status, the state on its VMI and the events about it. */
export function migrationStory(
  migration: VirtualMachineInstanceMigration,
  { vmi, events = [] }: { readonly vmi?: unknown; readonly events?: readonly unknown[] } = {},
): MigrationStory {
  const { metadata, status } = migration;
  const state = stateOf(migration, vmi);
  const now = text(status?.phase) || "Pending";
  const failed = now === "Failed";
  const phase = failed ? lastPhase(migration) : now;
  const reason = text(state.failureReason) || (failed ? newestWarning(metadata?.name, events) : "");
  return {
    name: text(metadata?.name),
    outcome: outcomes[now] ?? "moving",
    phase,
    ...(failed && sideOf(migration, { vmi, events, state, phase })),
    from: text(state.sourceNode),
    to: text(state.targetNode),
    ...(reason !== "" && { reason }),
    ...transferOf(migration, vmi),
    ...(outcomes[now] ? {} : postCopyOf(migration, { vmi, events, state })),
  };
}

/** Who reported the failure; if nobody did, who works in its phase; and none where that may be either side. */
function sideOf(
  { metadata }: VirtualMachineInstanceMigration,
  {
    vmi,
    events,
    state,
    phase,
  }: {
    readonly vmi: unknown;
    readonly events: readonly unknown[];
    readonly state: VirtualMachineInstanceMigrationState;
    readonly phase: string;
  },
): Pick<MigrationStory, "side"> {
  const found = findFailureReporter(events, { vmi, migrationUID: text(metadata?.uid) });
  const host = found?.host ?? "";
  if (host !== "" && host === text(state.targetNode)) return { side: "the target" };
  if (host !== "" && host === text(state.sourceNode)) return { side: "the source" };
  if (found?.component === "virt-controller") return { side: "the control plane" };
  const side = sides[phase];
  return side ? { side } : {};
}

/** The source reports a broken post-copy by events; the run grant says whether it is still committed to it. */
function postCopyOf(
  { metadata }: VirtualMachineInstanceMigration,
  {
    vmi,
    events,
    state,
  }: {
    readonly vmi: unknown;
    readonly events: readonly unknown[];
    readonly state: VirtualMachineInstanceMigrationState;
  },
): Pick<MigrationStory, "postCopy" | "side" | "reason" | "reportedAt" | "advice"> {
  const grant = readGrant(vmi);
  if (grant.state !== "Committed" || grant.migrationUID !== metadata?.uid) return {};
  const since = text(metadata?.creationTimestamp);
  const broken = findBrokenPostCopy(events, { vmi, since });
  if (!broken) return { postCopy: "running" };
  const pods = [text(state.sourcePod), text(state.targetPod)].filter((name) => name !== "");
  const named = pods.length === 2 ? ` (${pods.join(" and ")})` : "";
  const { holder, target } = grant;
  return {
    ...{ postCopy: "broken", side: "the source", reason: broken.why, reportedAt: broken.at },
    advice: `make sure that nodes ${holder.node} and ${target.node} reach each other and that both launcher Pods${named} run: the source then recovers it by itself. Delete neither Pod, since each has a part of the guest's memory; only if that is lost, delete both: the VM then starts cold`,
  };
}

function transferOf(
  { metadata }: VirtualMachineInstanceMigration,
  vmi: unknown,
): Pick<MigrationStory, "transfer"> {
  const key = names().own(migrationTransferAnnotation);
  const transfer = readMigrationTransfer(text(at(vmi, "metadata", "annotations", key)));
  return transfer && transfer.migrationUID === metadata?.uid ? { transfer } : {};
}

const outcomes: Readonly<Record<string, MigrationStory["outcome"]>> = {
  Succeeded: "moved",
  Failed: "failed",
};

/** What the migration keeps, and what its VMI says about it now: the VMI only has room for the last one. */
function stateOf(
  { metadata, status }: VirtualMachineInstanceMigration,
  vmi: unknown,
): VirtualMachineInstanceMigrationState {
  const live = Object(at(vmi, "status", "migrationState"));
  const isOwn = metadata?.uid !== undefined && live.migrationUid === metadata.uid;
  return { ...Object(status?.migrationState), ...(isOwn ? live : {}) };
}

/** The phase before it failed. */
function lastPhase({ status }: VirtualMachineInstanceMigration): string {
  const all = objects(status?.phaseTransitionTimestamps).map(({ phase }) => text(phase));
  return all.findLast((phase) => phase !== "Failed") ?? "Pending";
}

function newestWarning(name: unknown, events: readonly unknown[]): string {
  const time = (event: unknown): string =>
    text(at(event, "lastTimestamp")) || text(at(event, "metadata", "creationTimestamp"));
  const about = events
    .filter((event) => at(event, "involvedObject", "name") === name)
    .filter((event) => at(event, "type") === "Warning")
    .toSorted((a, b) => (time(a) < time(b) ? -1 : 1));
  return text(at(about.at(-1), "message"));
}

/** A story in one sentence. */
export function migrationText(story: MigrationStory): string {
  const { outcome, phase, side, from, to, reason } = story;
  const way = `${from ? ` from ${plain(from)}` : ""}${to ? ` to ${plain(to)}` : ""}`;
  if (outcome === "moved") return `it moved${way}`;
  if (outcome === "moving") return `it is moving${way} (${plain(phase)}${postCopyText(story)}`;
  const why = reason ? `: ${plain(reason)}` : "; its events do not say why";
  return `it did not move${way}: ${side ? `${side} gave up` : "it was given up"} in phase ${plain(phase)}${why}`;
}

function postCopyText({
  postCopy,
  side,
  reason = "",
  reportedAt = "",
  advice = "",
}: MigrationStory): string {
  if (postCopy === undefined) return ")";
  if (postCopy === "running") return ", in post-copy)";
  return `), but its post-copy is broken: ${side} reported at ${plain(reportedAt)}: ${plain(reason)}\n  What to do: ${plain(advice)}`;
}
