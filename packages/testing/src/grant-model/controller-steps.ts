import type { EarlierHolder } from "@virtkit/api/grant";
import { holderOf } from "./evidence.ts";
import { codeIn, freeCode, type GrantCode, isHandover } from "./grant-code.ts";
import {
  at,
  container,
  containerOf,
  copy,
  copyOf,
  extra,
  get,
  grantState,
  hasRecord,
  isVmiGone,
  makePod,
  migrationTo,
  nobody,
  node,
  nodeBit,
  nodeOfPod,
  pod,
  podGeneration,
  podOf,
  podState,
  setPodState,
  setSides,
  sourceOf,
  targetOf,
  vmi,
} from "./layout.ts";
import { isPendingForEver, sparePod } from "./spare-pod.ts";
import type { World } from "./world.ts";

/**
 * Two controllers at once. Each reads, decides and only then writes; whatever happened in between is
 * found out by the swap alone. Creating a Pod collides by its name, so it is one step.
 */
export function controllerSteps(w: World): void {
  const { s } = w;
  createVmi(w);
  if (get(s, at.vmi) === vmi.gone) {
    forgetPods(w);
    deletePods(w);
    return;
  }
  createPod(w);
  createMigration(w);
  rememberPods(w);
  planWrites(w);
  for (let controller = 0; controller < 2; controller++) writePlan(w, controller);
  deletePods(w);
  forgetPods(w);
  finishVmi(w);
}

function createVmi(w: World): void {
  const { s } = w;
  if (get(s, at.vmi) !== vmi.gone || get(s, at.generation) !== 0) return;
  const n = w.begin();
  n[at.vmi] = vmi.present;
  n[at.generation] = 1;
  w.swap(freeCode);
  w.outdate();
  if (get(s, at.hasVm) === 1) w.fair("vm controller: creates the next VMI");
  else w.fault("user: creates a VMI of the same name");
}

/** What the reducer says to granting a Pod, by a list that is live or not. */
export function askGrant(
  w: World,
  p: number,
  { live, remembered }: { readonly live: boolean; readonly remembered: boolean },
): GrantCode {
  const { s } = w;
  const evidence = w.namedEvidence();
  const isFree = get(s, at.grant) <= grantState.Free;
  const none = { key: "", holders: (): EarlierHolder[] => [] };
  const isEarlier = (each: number): boolean => podGeneration(s, each) !== get(s, at.generation);
  const isListed = (each: number): boolean => isEarlier(each) && podState(s, each) !== pod.gone;
  const isKept = (each: number): boolean =>
    isEarlier(each) && ((get(s, at.memory) >> each) & 1) === 1;
  const listed = isFree && live ? w.earlier(isListed) : none;
  const memory = isFree ? w.earlier(isKept) : none;
  const key = `grant ${p} ${live} ${remembered} ${evidence.key} ${listed.key} ${memory.key}`;
  return w.decide(key, () => ({
    kind: "grant",
    vmiUID: "vmi",
    podUID: `pod-${p}`,
    proofs: evidence.proofs(),
    remembered,
    earlier: { live, listed: listed.holders(), remembered: memory.holders() },
  }));
}

function createPod(w: World): void {
  const { s } = w;
  if (get(s, at.vmi) !== vmi.present || sparePod(s, w.pods) >= 0) return;
  const p = unusedPod(s, w.pods);
  if (p < 0) return;
  // A Pod is of no use before it can be granted; the first one is made at once.
  const isFirst = get(s, at.grant) === grantState.Free;
  if (!isFirst && askGrant(w, p, { live: true, remembered: true }) < 0) return;
  const n = w.begin();
  makePod(n, p);
  w.fair("controller: creates a launcher Pod");
}

/** The first Pod that was never used, on a node that is there, and not on `not`. */
export function unusedPod(s: Uint8Array, pods: number, not = -1): number {
  for (let p = 0; p < pods; p++) {
    const n = nodeOfPod(p);
    if (podState(s, p) === pod.none && n !== not && (node(s, n) & nodeBit.off) === 0) return p;
  }
  return -1;
}

function createMigration(w: World): void {
  const { s } = w;
  const used = get(s, at.migrationsUsed);
  if (get(s, at.vmi) !== vmi.present || (get(s, at.grant) !== grantState.Claimed && !isHandover(s)))
    return;
  const holder = get(s, at.holder);
  if (used >= w.migrations || copyOf(s, holder) === copy.none) return;
  // One at a time: the last one has failed or is done.
  if (used > 0 && isOpen(s, used)) return;
  const p = unusedPod(s, w.pods, nodeOfPod(podOf(s, holder)));
  if (p < 0) return;
  const n = w.begin();
  makePod(n, p);
  n[at.migrationsUsed] = used + 1;
  setSides(n, used + 1, nobody, p);
  w.fault("user: asks for a migration");
}

/** Whether a migration may still reach its handover. */
function isOpen(s: Uint8Array, m: number): boolean {
  const target = targetOf(s, m);
  return (
    sourceOf(s, m) === nobody &&
    containerOf(s, target) !== container.dead &&
    podState(s, podOf(s, target)) === pod.present
  );
}

function rememberPods(w: World): void {
  const { s } = w;
  if (get(s, at.hasVm) === 0) return;
  for (let p = 0; p < w.pods; p++) {
    if (podState(s, p) !== pod.present || ((get(s, at.memory) >> p) & 1) === 1) continue;
    const isNext = p === sparePod(s, w.pods) || isOpen(s, migrationTo(s, p) || 1);
    if (!isNext) continue;
    const n = w.begin();
    n[at.memory] = get(n, at.memory) | (1 << p);
    w.fair("vm controller: remembers a Pod");
  }
}

function planWrites(w: World): void {
  const { s } = w;
  const isRemembered = (p: number): boolean =>
    get(s, at.hasVm) === 0 || ((get(s, at.memory) >> p) & 1) === 1;
  if (get(s, at.vmi) === vmi.present) {
    const p = sparePod(s, w.pods);
    if (p >= 0) {
      plan(w, askGrant(w, p, { live: true, remembered: isRemembered(p) }), "grants a Pod");
    }
    const m = get(s, at.migrationsUsed);
    if (m > 0 && isOpen(s, m) && containerOf(s, targetOf(s, m)) === container.alive) {
      planHandover(w, m, isRemembered(podOf(s, targetOf(s, m))));
    }
  } else {
    const evidence = w.namedEvidence();
    const next = w.decide(`end ${evidence.key}`, () => ({
      kind: "end",
      vmiUID: "vmi",
      proofs: evidence.proofs(),
    }));
    plan(w, next, "ends the grant");
  }
}

function planHandover(w: World, m: number, remembered: boolean): void {
  const { s } = w;
  const target = targetOf(s, m);
  if (!hasRecord(s, target)) return;
  const sourceRuns =
    get(s, at.grant) >= grantState.Claimed && copyOf(s, get(s, at.holder)) === copy.running;
  const next = w.decide(`handOver ${target} ${m} ${remembered} ${sourceRuns}`, () => ({
    kind: "handOver",
    target: holderOf(s, target),
    migrationUID: `migration-${m}`,
    remembered,
    sourceRuns,
  }));
  plan(w, next, "hands over");
}

/** One of the controllers without a plan makes one; which of them does not matter. */
export function plan(w: World, next: GrantCode, what: string, asFault = false): void {
  const { s } = w;
  if (next < 0 || next === codeIn(s)) return;
  const slot = get(s, at.plans) === 0 ? 0 : get(s, at.plans + 2) === 0 ? 1 : -1;
  if (slot < 0) return;
  // Both with one plan is the same as one of them: the second write would fail.
  if (slot === 1 && codeAt(s, at.plans) === next) return;
  const n = w.begin();
  putCode(n, at.plans + slot * 2, next);
  if (asFault) {
    n[at.others] = get(n, at.others) - 1;
    w.fault(`controller with a stale cache: ${what}`);
  } else w.fair(`controller: plans that it ${what}`);
}

function writePlan(w: World, controller: number): void {
  const { s } = w;
  const index = at.plans + controller * 2;
  if (get(s, index) === 0) return;
  const next = codeAt(s, index);
  const names = ["", "", "grant", "", "handover", "", "", "end"];
  const n = w.begin();
  n.fill(0, index, index + 2);
  w.swap(next);
  w.fair(`controller: writes its plan (${names[next & 7]})`);
  dropPlan(w, index);
  if (get(s, at.lateWrites) === 0 || get(s, at.late) !== 0) return;
  w.begin();
  w.n.fill(0, index, index + 2);
  putLate(w, next);
  w.fault("controller: its write times out");
}

/** It crashes before it writes. No budget: it is as if it had not planned. */
function dropPlan(w: World, index: number): void {
  const n = w.begin();
  n.fill(0, index, index + 2);
  w.fault("controller: crashes before it writes");
}

/** A write that the writer knows nothing about any more. */
export function putLate(w: World, next: GrantCode): void {
  const { n } = w;
  putCode(n, at.late, next);
  n[at.lateWrites] = get(n, at.lateWrites) - 1;
}

/** A code takes two bytes; the state of a written grant is never 0. */
export function putCode(n: Uint8Array, index: number, code: GrantCode): void {
  n[index] = code & 255;
  n[index + 1] = code >> 8;
}

export function codeAt(s: Uint8Array, index: number): GrantCode {
  return get(s, index) | (get(s, index + 1) << 8);
}

/** Deletes Pods that the grant does not name, or whose VMI is to end; never in a handover. */
function deletePods(w: World): void {
  const { s } = w;
  for (let p = 0; p < w.pods; p++) {
    if (podState(s, p) !== pod.present) continue;
    const inc = currentContainer(s, p);
    // To delete a Pod that has ended changes nothing until it may be forgotten, which is one step then.
    if (containerOf(s, inc) === container.dead) continue;
    const ends = get(s, at.vmi) !== vmi.present;
    if (!ends && !isOver(w, p)) continue;
    if (
      !w.mayDestroy(inc, {
        grant: isVmiGone(s, inc) ? -1 : w.code,
        live: true,
        by: "controller",
        ending: ends,
      })
    ) {
      continue;
    }
    const n = w.begin();
    setPodState(n, p, pod.deleting);
    w.doom(inc);
    w.fair("controller: deletes a Pod");
  }
}

export function isNamed(s: Uint8Array, inc: number): boolean {
  const state = get(s, at.grant);
  if (state === grantState.Granted) return get(s, at.holder) === podOf(s, inc);
  if (state === grantState.Claimed) return get(s, at.holder) === inc;
  return isHandover(s) && (get(s, at.holder) === inc || get(s, at.target) === inc);
}

/** The container that the kubelet takes for the Pod's. */
export function currentContainer(s: Uint8Array, p: number): number {
  return get(s, at.extraPod) - 1 === p ? extra : p;
}

/** A Pod that has done its work: ended, moved away from, or the target of a migration that failed. */
function isOver(w: World, p: number): boolean {
  const { s } = w;
  const inc = currentContainer(s, p);
  if (containerOf(s, inc) === container.dead || isPendingForEver(s, p)) return true;
  if (podGeneration(s, p) !== get(s, at.generation)) return true;
  const m = migrationTo(s, p);
  if (m !== 0) return !isOpen(s, m) && sourceOf(s, m) !== nobody;
  for (let each = 1; each <= get(s, at.migrationsUsed); each++) {
    if (sourceOf(s, each) === inc) return true;
  }
  return false;
}

/** Removes a Pod's finalizer, and the VM's memory of the Pod, once it is proven to have ended. */
function forgetPods(w: World): void {
  const { s } = w;
  for (let p = 0; p < w.pods; p++) {
    const state = podState(s, p);
    const isRemembered = ((get(s, at.memory) >> p) & 1) === 1;
    const isDead =
      state === pod.present && containerOf(s, currentContainer(s, p)) === container.dead;
    if (state !== pod.deleting && !isDead && !(state === pod.gone && isRemembered)) continue;
    if (!mayForget(w, p)) continue;
    const n = w.begin();
    setPodState(n, p, pod.gone);
    n[at.memory] = get(n, at.memory) & ~(1 << p);
    w.fair("controller: releases a Pod that is proven to have ended");
  }
}

/** Every container of a Pod may be forgotten. */
function mayForget(w: World, p: number): boolean {
  const { s } = w;
  for (const inc of get(s, at.extraPod) - 1 === p ? [p, extra] : [p]) {
    if (containerOf(s, inc) === container.none) continue;
    if (!w.mayForget(inc)) return false;
  }
  return true;
}

function finishVmi(w: World): void {
  const { s } = w;
  if (get(s, at.vmi) !== vmi.deleting || get(s, at.grant) !== grantState.Ended) return;
  for (let p = 0; p < w.pods; p++) {
    const state = podState(s, p);
    if (state !== pod.none && state !== pod.gone) return;
  }
  const n = w.begin();
  n[at.vmi] = vmi.gone;
  w.swap(freeCode);
  w.outdate();
  w.fair("controller: releases the VMI");
}
