import {
  decodeGrant,
  encodeMemory,
  type Grant,
  grantAnnotation,
  type Holder,
  mayForget,
  mostRuns,
  type ReadGrant,
  type RememberedPod,
  type RememberedRun,
  readMemory,
  runMemoryCondition,
} from "@virtkit/api/grant";
import type { VirtualMachineCondition, VirtualMachineInstance } from "@virtkit/api/schema";
import { at, entry, text } from "@virtkit/api/shape";
import { conditionsOf, findCondition } from "@virtkit/api/status";
import { uidOf } from "../plan/object-name.ts";
import { isDeleting } from "../plan/ownership.ts";
import { timestamp } from "../plan/timestamp.ts";
import type { PodObject } from "../vmi/cluster-objects.ts";
import { evidenceOf, incarnationsOf, namedBy } from "../vmi/incarnations.ts";
import { isControlledBy } from "../vmi/own-pods.ts";
import { isGoingDown, isTemporary } from "../vmi/pod-state.ts";
import { holdersOf } from "../vmi/vm-memory.ts";
import type { VmPass } from "./vm-pass.ts";
import type { VmGrantView } from "./vm-view.ts";

/** Why a VM is not started, or not released. */
export const runGrantRefused = "RunGrantRefused";

/**
 * More Pods of one VMI than this trigger a live read, so that those that are gone are forgotten.
 */
const manyPods = 4;

/** Seconds until the next look at VMIs that were removed by force. */
const recheckSeconds = 30;

/** What a VM should remember after a pass. */
export interface NextMemory {
  readonly runs: readonly RememberedRun[];
  /** Whether somebody waits for it; otherwise it is written with the next change. */
  readonly isUrgent: boolean;
}

/**
 * What the VM should remember. Its VMI is remembered before a grant can name one of its Pods, and
 * forgotten when its grant has ended. Undefined if nothing is to be remembered, or if the memory
 * cannot be read: it then stays as it is.
 */
export function nextMemory(pass: VmPass): NextMemory | undefined {
  const { grant: view } = pass.view;
  const memory = readMemory(pass.view.vm, pass.config.names);
  if (!view || "problem" in memory) return undefined;
  const { runs } = memory;
  const uid = uidOf(pass.vmi);
  const kept = runs.filter(({ vmiUID }) => vmiUID !== uid).filter((run) => !isProven(pass, run));
  const earlier = runs.filter(({ vmiUID }) => vmiUID !== uid).length;
  if (kept.length > 0) pass.draft.requeueAfter(recheckSeconds);
  const isForgetting = kept.length < earlier;
  if (!pass.vmi) return { runs: kept, isUrgent: isForgetting };
  const before = runs.find(({ vmiUID }) => vmiUID === uid);
  const grant = grantOf(pass, pass.vmi);
  if (grant.state === "Ended") {
    // A VM that is deleted as well takes its memory with it.
    const isNeeded = before !== undefined && !isDeleting(pass.vm);
    return { runs: kept, isUrgent: isForgetting || isNeeded };
  }
  // A cache may still show a VMI that is gone and rightly forgotten: nobody could prove its end a
  // second time.
  if (!before) pass.demandLiveRead();
  const run = followed(pass, view, before ?? { vmiUID: uid }, grant);
  const isUrgent = isForgetting || !before || hasNewPods(before, run, grant);
  return { runs: [...kept, run], isUrgent };
}

/** The run grant of the VM's VMI. */
export function grantOf({ config }: VmPass, vmi: VirtualMachineInstance): ReadGrant {
  const value = entry(at(vmi, "metadata", "annotations"), config.names.own(grantAnnotation));
  return decodeGrant(value, uidOf(vmi));
}

/**
 * VMIs that are gone without proof of their end: somebody has removed them by force. Empty if there
 * are none, or if nothing is to be remembered; a sentence if the memory cannot be read.
 */
export function unprovenRuns(pass: VmPass): readonly RememberedRun[] | string {
  const { grant: view, vm } = pass.view;
  if (!view) return [];
  const memory = readMemory(vm, pass.config.names);
  if ("problem" in memory) {
    const type = pass.config.names.own(runMemoryCondition);
    return `what the VM remembers about its VMIs cannot be read: ${memory.problem}; make sure that no guest of this VM runs, then remove the condition ${type} from its status`;
  }
  const uid = uidOf(pass.vmi);
  return memory.runs.filter((run) => run.vmiUID !== uid && !isProven(pass, run));
}

/** Why no other VMI can be remembered, so that none may be created. */
export function refuseStart(pass: VmPass): string | undefined {
  const unproven = unprovenRuns(pass);
  if (typeof unproven === "string") return unproven;
  if (unproven.length < mostRuns) return undefined;
  return `${unproven.length} VMIs of the VM were removed by force, and their end cannot be proven`;
}

/** The condition of a VM that has something to remember. */
export function memoryCondition(
  pass: VmPass,
  { runs }: NextMemory,
): VirtualMachineCondition | undefined {
  if (runs.length === 0) return undefined;
  const type = pass.config.names.own(runMemoryCondition);
  const before = findCondition(conditionsOf<VirtualMachineCondition>(pass.view.vm), type);
  const message = encodeMemory(runs);
  if (before?.message === message) return before;
  const lastTransitionTime = timestamp(pass.now);
  return { type, status: "True", reason: "Remembered", message, lastTransitionTime };
}

/**
 * Whether everything that may have run of a missing VMI is proven to have ended. That needs a live
 * read.
 */
function isProven(pass: VmPass, run: RememberedRun): boolean {
  const { grant: view } = pass.view;
  if (!view || !pass.demandLiveRead()) return false;
  const grantView = { ...view, isRemembered: () => true, remembered: [] };
  const proofs = evidenceOf(grantView);
  const listed = view.pods
    .filter((pod) => isControlledBy(pod, { metadata: { uid: run.vmiUID } }))
    .flatMap((pod) => incarnationsOf(pod, undefined, grantView));
  return [...holdersOf(run, view.pods), ...listed].every(
    (holder: Holder) => mayForget({ holder, proofs, grant: undefined }) === undefined,
  );
}

/** A run updated with its present grant. Before the first claim any Pod may be granted. */
function followed(
  pass: VmPass,
  view: VmGrantView,
  run: RememberedRun,
  grant: ReadGrant,
): RememberedRun {
  if (!("holder" in grant)) return run;
  const { seq } = grant;
  const named = namedBy(grant).map((holder) => ({ podUID: holder.podUID, seq, holder }));
  const isNamed = (podUID: string): boolean => named.some((each) => each.podUID === podUID);
  const before = run.pods ?? [];
  const present = view.pods.map(({ metadata }) => text(metadata?.uid));
  const kept = before.filter(
    (pod) => !isNamed(pod.podUID) && !isOver(pass, pod, grant, present, before.length > manyPods),
  );
  const isKept = (podUID: string): boolean => kept.some((each) => each.podUID === podUID);
  const added = livePodsOf(pass, view)
    .map(({ metadata }) => ({ podUID: text(metadata?.uid), seq }))
    .filter(({ podUID }) => !isNamed(podUID) && !isKept(podUID));
  return { vmiUID: run.vmiUID, pods: [...named, ...kept, ...added] };
}

/** Whether the end of a Pod that the grant does not name needs no proof. */
function isOver(
  pass: VmPass,
  { podUID, seq, holder }: RememberedPod,
  grant: Grant,
  present: readonly string[],
  areMany: boolean,
): boolean {
  const isGone = !present.includes(podUID);
  if (grant.seq > seq) return holder !== undefined || isGone;
  // A handover to it may be on its way while the grant is unchanged.
  return holder === undefined && isGone && areMany && pass.demandLiveRead();
}

/** The Pods of the VMI in which a guest may be, including targets of migrations. */
function livePodsOf({ vmi, config }: VmPass, { pods }: VmGrantView): readonly PodObject[] {
  if (!vmi) return [];
  return pods.filter(
    (pod) => isControlledBy(pod, vmi) && !isGoingDown(pod) && !isTemporary(pod, config.names),
  );
}

/** Whether a handover waits for a Pod to be remembered. */
function hasNewPods(before: RememberedRun, after: RememberedRun, grant: ReadGrant): boolean {
  const known = new Set((before.pods ?? []).map(({ podUID }) => podUID));
  const holder = "holder" in grant ? grant.holder.podUID : "";
  return (after.pods ?? []).some(({ podUID }) => podUID !== holder && !known.has(podUID));
}
