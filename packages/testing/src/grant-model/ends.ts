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
  sourceOf,
  vmi,
} from "./layout.ts";
import { unusedPod } from "./controller-steps.ts";
import { candidate, isHandover } from "./world.ts";

/** The good ends of a run. */
export function endOf(s: Uint8Array, pods: number): string | undefined {
  let running = -1;
  let count = 0;
  for (let inc = 0; inc < incarnationCount; inc++) {
    if (!isRunning(copyOf(s, inc))) continue;
    running = inc;
    count++;
  }
  const state = get(s, at.grant);
  if (get(s, at.vmi) === vmi.gone) {
    return count === 0 && (get(s, at.hasVm) === 0 || get(s, at.generation) === 1)
      ? "ended on purpose"
      : undefined;
  }
  if (state === grantState.Invalid) return "a person must check: the grant is unreadable";
  const isClaimed = state === grantState.Claimed && get(s, at.holder) === running;
  if (count === 1 && isClaimed && copyOf(s, running) === copy.running && get(s, at.vmi) === vmi.present) {
    return "exactly one running copy";
  }
  const person = personMustCheck(s);
  if (person) return person;
  const isOver = state === grantState.Free || state === grantState.Ended || isClaimedByEnded(s);
  const isUsedUp = count === 0 && get(s, at.vmi) === vmi.present && isOver;
  return isUsedUp && unusedPod(s, pods) < 0 && candidate(s, pods) < 0
    ? "the bound: a new grant is due, and no Pod is left"
    : undefined;
}

function isClaimedByEnded(s: Uint8Array): boolean {
  const state = get(s, at.grant);
  if (state === grantState.Granted) return true;
  if (state === grantState.Claimed) return containerOf(s, get(s, at.holder)) === container.dead;
  return (
    isHandover(s) &&
    containerOf(s, get(s, at.holder)) === container.dead &&
    containerOf(s, get(s, at.target)) === container.dead
  );
}

/** What only a person can find out; undefined where evidence is to come. */
function personMustCheck(s: Uint8Array): string | undefined {
  const state = get(s, at.grant);
  const unprovable = "a person must check: a holder's end cannot be proven";
  if (state === grantState.Free || get(s, at.vmi) === vmi.deleting) {
    for (let inc = 0; inc < incarnationCount; inc++) {
      const p = podOf(s, inc);
      if (p < 0 || containerOf(s, inc) === container.none) continue;
      const isKept = podState(s, p) !== pod.gone || ((get(s, at.memory) >> p) & 1) === 1;
      if (isKept && isUnprovable(s, inc)) return unprovable;
    }
  }
  if (state === grantState.Claimed) return isUnprovable(s, get(s, at.holder)) ? unprovable : undefined;
  if (!isHandover(s)) return undefined;
  const [holder, target] = [get(s, at.holder), get(s, at.target)];
  // A target that runs or may run claims without its source; a source that may abort goes on without its target.
  const needsSource = state !== grantState.Released && containerOf(s, target) !== container.alive;
  const isDecisionLost =
    fileOf(s, get(s, at.migration)) === file.none &&
    (copyOf(s, holder) === copy.stopped || copyOf(s, holder) === copy.postCopySource);
  if (state !== grantState.Released && isDecisionLost && !isRunning(copyOf(s, target))) {
    return "a person must check: the record of a decision is lost";
  }
  if (isUnprovable(s, holder) && (needsSource || !mayGoOn(s, target))) return unprovable;
  const canAbort =
    containerOf(s, holder) === container.alive && copyOf(s, holder) !== copy.postCopySource;
  if (isUnprovable(s, target) && !canAbort) return unprovable;
  return undefined;
}

function mayGoOn(s: Uint8Array, target: number): boolean {
  return copyOf(s, target) === copy.running || get(s, at.grant) === grantState.Released;
}

/** Its end is no longer to be shown by anybody, or its node is off. */
function isUnprovable(s: Uint8Array, inc: number): boolean {
  const n = nodeOf(s, inc);
  const flags = node(s, n);
  if (containerOf(s, inc) !== container.dead) return false;
  if (fenceOf(s, n) === bootOf(s, inc) + 1) return false;
  if ((flags & nodeBit.off) !== 0 || (flags & nodeBit.replaced) !== 0) return reportOf(s, inc) !== report.terminated;
  if (bootOf(s, inc) !== bootOfNode(s, n) || hasRecord(s, inc)) return false;
  const isListed = podState(s, podOf(s, inc)) !== pod.gone;
  return !(isListed && reportOf(s, inc) !== report.unknown && (!isLost(s, inc) || reportOf(s, inc) === report.terminated));
}
