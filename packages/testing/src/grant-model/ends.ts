import { unusedPod } from "./controller-steps.ts";
import { isHandover } from "./grant-code.ts";
import {
  at,
  bootOf,
  bootOfNode,
  container,
  containerOf,
  copy,
  copyOf,
  fenceOf,
  file,
  fileOf,
  get,
  grantState,
  hasRecord,
  incarnationCount,
  isLost,
  isRunning,
  node,
  nodeBit,
  nodeOf,
  pod,
  podOf,
  podState,
  report,
  reportOf,
  vmi,
} from "./layout.ts";
import { sparePod } from "./spare-pod.ts";
import type { World } from "./world.ts";

const unprovable = "a person must check: a holder's end cannot be proven";

/** The good ends of a run; undefined if the parts still have to work. */
export function endOf(s: Uint8Array, pods: number, world: World): string | undefined {
  if (get(s, at.vmi) === vmi.gone) {
    const isLast = get(s, at.hasVm) === 0 || get(s, at.generation) === 1;
    return isLast && countRunning(s) === 0 ? "ended on purpose" : undefined;
  }
  if (get(s, at.grant) === grantState.Invalid) {
    return "a person must check: the grant is unreadable";
  }
  if (isSettled(s)) return "exactly one running copy";
  return personMustCheck(s, world) ?? boundOf(s, pods);
}

function countRunning(s: Uint8Array): number {
  let count = 0;
  for (let inc = 0; inc < incarnationCount; inc++) if (isRunning(copyOf(s, inc))) count++;
  return count;
}

function isSettled(s: Uint8Array): boolean {
  return (
    get(s, at.vmi) === vmi.present &&
    get(s, at.grant) === grantState.Claimed &&
    copyOf(s, get(s, at.holder)) === copy.running &&
    countRunning(s) === 1
  );
}

/** The model ends here, the protocol does not: everybody has ended, and the next Pod is one too many. */
function boundOf(s: Uint8Array, pods: number): string | undefined {
  const isDue = get(s, at.vmi) === vmi.present && countRunning(s) === 0 && isGrantDue(s);
  return isDue && unusedPod(s, pods) < 0 && sparePod(s, pods) < 0
    ? "the bound: a new grant is due, and no Pod is left"
    : undefined;
}

function isGrantDue(s: Uint8Array): boolean {
  const isDead = (inc: number): boolean => containerOf(s, inc) === container.dead;
  const state = get(s, at.grant);
  if (state === grantState.Claimed) return isDead(get(s, at.holder));
  return !isHandover(s) || (isDead(get(s, at.holder)) && isDead(get(s, at.target)));
}

/** What only a person can find out; undefined if evidence is to come. */
function personMustCheck(s: Uint8Array, world: World): string | undefined {
  const isHidden = (inc: number): boolean => isUnprovable(s, inc) && world.namesCheck(s, inc);
  const state = get(s, at.grant);
  const looksBack = state === grantState.Free || get(s, at.vmi) === vmi.deleting;
  if (looksBack && keptIncarnations(s).some(isHidden)) return unprovable;
  if (state === grantState.Claimed) return isHidden(get(s, at.holder)) ? unprovable : undefined;
  return isHandover(s) ? handoverCheck(s, isHidden) : undefined;
}

/** Incarnations of Pods that are listed or remembered. */
function keptIncarnations(s: Uint8Array): readonly number[] {
  return [0, 1, 2, 3, 4].filter((inc) => {
    const p = podOf(s, inc);
    if (p < 0 || containerOf(s, inc) === container.none) return false;
    return podState(s, p) !== pod.gone || ((get(s, at.memory) >> p) & 1) === 1;
  });
}

function handoverCheck(s: Uint8Array, isHidden: (inc: number) => boolean): string | undefined {
  const [holder, target] = [get(s, at.holder), get(s, at.target)];
  const isReleased = get(s, at.grant) === grantState.Released;
  const source = copyOf(s, holder);
  const isStopped = source === copy.stopped || source === copy.postCopySource;
  const isLost = fileOf(s, get(s, at.migration)) === file.none && isStopped;
  if (!isReleased && isLost && !isRunning(copyOf(s, target))) {
    return "a person must check: the record of a decision is lost";
  }
  // A target that runs, or may run, claims without its source.
  const goesOn =
    containerOf(s, target) === container.alive &&
    (isReleased || copyOf(s, target) === copy.running);
  if (isHidden(holder) && !goesOn && !(isReleased && !isHidden(target))) return unprovable;
  // A source that may abort continues without its target.
  const canAbort =
    !isReleased && containerOf(s, holder) === container.alive && source !== copy.postCopySource;
  return isHidden(target) && !canAbort ? unprovable : undefined;
}

/** Nobody will ever show its end: its node is off, or all who saw it have forgotten. */
function isUnprovable(s: Uint8Array, inc: number): boolean {
  const n = nodeOf(s, inc);
  const isReported = reportOf(s, inc) === report.terminated;
  if (containerOf(s, inc) !== container.dead || fenceOf(s, n) === bootOf(s, inc) + 1) return false;
  if ((node(s, n) & (nodeBit.off | nodeBit.replaced)) !== 0) return !isReported;
  if (bootOf(s, inc) !== bootOfNode(s, n) || hasRecord(s, inc)) return false;
  if (podState(s, podOf(s, inc)) === pod.gone) return true;
  return reportOf(s, inc) === report.unknown || (isLost(s, inc) && !isReported);
}
