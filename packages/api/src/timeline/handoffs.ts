import { type Names, names as namesOf } from "../names/index.ts";
import type { VirtualMachineInstance } from "../schema/index.ts";
import { at, isObject, isSet, objects, text } from "../shape.ts";
import { eventEvidence, type TimelineEvent } from "./event-evidence.ts";
import {
  done,
  type Evidence,
  type EvidenceByStage,
  failed,
  strongest,
  waiting,
} from "./evidence.ts";
import { podEvidence, unreadyReason } from "./pod-evidence.ts";
import { quote } from "./sentences.ts";
import { isStage, type Stage, type StageOwner, stageFacts, stages } from "./stage.ts";
import { addEnd } from "./vmi-end.ts";
import { vmiEvidence } from "./vmi-evidence.ts";

const kubevirtNames = namesOf();

/** The used parts of a Pod; any shape is accepted. */
export interface TimelinePod {
  readonly metadata?: unknown;
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** What a node recorded about one stage. */
export interface TraceEntry {
  readonly stage: Stage;
  readonly at?: string;
  /** Default: `done`. */
  readonly state?: "done" | "waiting" | "failed";
  readonly message?: string;
}

/** Everything that is known about a VMI. Every part may be missing or of any shape. */
export interface TimelineInput {
  readonly vmi: VirtualMachineInstance;
  /** The launcher Pod; one that belongs to another VMI is ignored. */
  readonly pod?: TimelinePod | undefined;
  readonly events?: readonly TimelineEvent[] | undefined;
  readonly trace?: readonly TraceEntry[] | undefined;
  /** What the platform calls things. Default: KubeVirt's names. */
  readonly names?: Names | undefined;
}

/** One stage of a VMI. */
export interface Handoff {
  readonly stage: Stage;
  /** `unknown`: nothing in the input shows whether it happened. */
  readonly state: "done" | "waiting" | "failed" | "unknown";
  /** When it happened, or since when it is known not to have happened, according to the objects. */
  readonly at?: string;
  readonly by: StageOwner;
  /** Why it waits or has failed, in one sentence. */
  readonly reason?: string;
}

/**
 * Which handoffs on the way from a VMI to a guest have happened, and which one it waits for.
 *
 * A stage is `done`, `waiting` or `failed` only if something in the input shows it. After a stage that is known
 * not to have happened the later ones wait, too, because they cannot happen before it. A stage that was seen to
 * wait while a later one is done is out of date, and `unknown`; so is everything after the end of a VMI.
 * Accepts values of any shape.
 *
 * @example
 * ```ts
 * const list = handoffs({ vmi, pod, events });
 * firstOpenHandoff(list)?.reason; // "no node accepts the Pod: 0/3 nodes are available: 3 Insufficient memory."
 * ```
 */
export function handoffs(input: TimelineInput): readonly Handoff[] {
  const { vmi, pod, events, trace, names = kubevirtNames } = input;
  const own = isPod(pod) && belongs(pod, vmi, names) ? pod : undefined;
  const witnesses = [traceEvidence(trace), podEvidence(own), vmiEvidence(vmi)];
  const told = eventEvidence(events, vmi, own);
  const found: EvidenceByStage = {};
  let next: string | undefined;
  for (const stage of [...stages].reverse()) {
    const seen = strongest(...witnesses.map((witness) => witness[stage]));
    // A reported failure may be over; if the objects say something, they know.
    const isOver = seen !== undefined && told[stage]?.state === "failed";
    const evidence = strongest(seen, isOver ? undefined : noLater(told[stage], next));
    if (evidence) found[stage] = evidence;
    // These two come and go.
    const isLasting = stage !== "ready" && stage !== "agent-connected";
    if (isLasting && evidence?.state === "done") next = evidence.at ?? next;
  }
  addUnreadyPod(found, own);
  return settled(found, addEnd(found, vmi));
}

/** The first stage that is known not to have happened; `undefined` if there is none. */
export function firstOpenHandoff(list: readonly Handoff[]): Handoff | undefined {
  const isReady = list.some(({ stage, state }) => stage === "ready" && state === "done");
  // A VMI does not need an agent.
  return list.find(
    ({ stage, state }) =>
      (state === "failed" || state === "waiting") && !(isReady || stage === "agent-connected"),
  );
}

/** An event is written after what it reports: that was done before the next stage, even if the event came later. */
function noLater(told: Evidence | undefined, next: string | undefined): Evidence | undefined {
  const isLate = told?.state === "done" && Date.parse(told.at ?? "") > Date.parse(next ?? "");
  return isLate ? done(next) : told;
}

function settled(found: EvidenceByStage, end: Stage | undefined): readonly Handoff[] {
  const states = stages.map((stage) => found[stage]);
  const lastDone = states.findLastIndex((evidence) => evidence?.state === "done");
  const result: Handoff[] = [];
  let isBlocked = false;
  for (const [index, stage] of stages.entries()) {
    const evidence = states[index];
    const isPassed = index < lastDone && stage !== "ready" && stage !== end;
    const isStale = isPassed && evidence?.state !== "done";
    const shown: Evidence | undefined = isStale
      ? undefined
      : (evidence ?? (isBlocked && !end ? waiting() : undefined));
    result.push(handoff(stage, shown));
    // Neither of the last two waits for the other.
    isBlocked ||= stage !== "ready" && shown !== undefined && shown.state !== "done";
  }
  return result;
}

function handoff(stage: Stage, evidence: Evidence | undefined): Handoff {
  const { by } = stageFacts[stage];
  return { stage, state: evidence?.state ?? "unknown", by, ...times(evidence) };
}

function times(evidence: Evidence | undefined): Pick<Handoff, "at" | "reason"> {
  return {
    ...(evidence?.at === undefined ? {} : { at: quote(evidence.at) }),
    ...(evidence?.reason === undefined ? {} : { reason: plain(evidence.reason) }),
  };
}

/** Sentences contain quotes, which are cut, and names, which may be anything. */
function plain(reason: string): string {
  return reason.replace(/\p{Cc}+/gu, " ");
}

/** A running Pod that is not ready says what the launcher waits for. */
function addUnreadyPod(found: EvidenceByStage, pod: unknown): void {
  const launcher = found["launcher-ready"];
  if (launcher?.state !== "waiting" || launcher.reason) return;
  const reason = unreadyReason(pod);
  if (reason) found["launcher-ready"] = waiting(reason, launcher.at);
}

/** Whether a value can be a Pod at all; anything else shows nothing. */
function isPod(pod: unknown): boolean {
  const kind = at(pod, "kind");
  return isObject(at(pod, "metadata")) && (kind === undefined || kind === "Pod");
}

/** Whether a Pod belongs to this VMI, as far as both say. */
function belongs(pod: unknown, vmi: unknown, names: Names): boolean {
  const uid = at(vmi, "metadata", "uid");
  const owner =
    at(pod, "metadata", "labels", names.labels.createdBy) ??
    objects(at(pod, "metadata", "ownerReferences")).find(
      ({ kind }) => kind === "VirtualMachineInstance",
    )?.["uid"];
  return !isSet(uid) || !isSet(owner) || uid === owner;
}

function traceEvidence(trace: unknown): EvidenceByStage {
  const found: EvidenceByStage = {};
  for (const item of Array.isArray(trace) ? trace : []) {
    const stage = isObject(item) ? item["stage"] : undefined;
    if (!isStage(stage)) continue;
    const message = quote(text(at(item, "message"))) || undefined;
    const time = at(item, "at");
    const state = at(item, "state");
    if (state === "waiting") found[stage] = waiting(message, time);
    else if (state === "failed") found[stage] = failed(message, time);
    else if (state === undefined || state === "done") found[stage] = done(time);
  }
  return found;
}
