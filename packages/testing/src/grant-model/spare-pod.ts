import {
  at,
  container,
  containerOf,
  copy,
  copyOf,
  extra,
  get,
  migrationTo,
  node,
  nodeBit,
  nodeOfPod,
  pod,
  podGeneration,
  podOf,
  podState,
  sourceOf,
} from "./layout.ts";

/** Whether a Pod exists that could be granted: made for a cold start, and not ended. */
export function sparePod(s: Uint8Array, pods: number): number {
  for (let p = 0; p < pods; p++) {
    const isFresh = podState(s, p) === pod.present && migrationTo(s, p) === 0 && !isUsed(s, p);
    if (isFresh && (containerOf(s, p) !== container.dead || hasSecond(s, p))) return p;
  }
  return -1;
}

/** A Pod has its name from an epoch: it is granted once. */
function isUsed(s: Uint8Array, p: number): boolean {
  if (podGeneration(s, p) !== get(s, at.generation) || isPendingForEver(s, p)) return true;
  for (const inc of [p, extra]) {
    if (podOf(s, inc) !== p) continue;
    if (copyOf(s, inc) !== copy.none) return true;
    for (let m = 1; m <= get(s, at.migrationsUsed); m++) if (sourceOf(s, m) === inc) return true;
  }
  return false;
}

/** Its node went away before its launcher started. */
export function isPendingForEver(s: Uint8Array, p: number): boolean {
  return containerOf(s, p) === container.none && (node(s, nodeOfPod(p)) & nodeBit.off) !== 0;
}

function hasSecond(s: Uint8Array, p: number): boolean {
  return get(s, at.extraPod) - 1 === p && containerOf(s, extra) === container.alive;
}
