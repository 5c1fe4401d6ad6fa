import { decisionIn, readGrant, uidOf } from "./grant-code.ts";
import {
  at,
  container,
  containerOf,
  copy,
  copyOf,
  file,
  fileOf,
  get,
  phase,
  setCopy,
  sourceOf,
  targetOf,
} from "./layout.ts";
import type { World } from "./world.ts";

/** Whether both launchers live and reach each other. */
export function bothAlive(s: Uint8Array, m: number): boolean {
  return (
    containerOf(s, sourceOf(s, m)) === container.alive &&
    containerOf(s, targetOf(s, m)) === container.alive &&
    get(s, at.peerCut) === 0
  );
}

/** The phases as QEMU and libvirt carry them out. The launcher calls finish whatever perform answered. */
export function phaseSteps(w: World, m: number): void {
  perform(w, m);
  finish(w, m);
  if (get(w.s, at.perform) === phase.postCopy) postCopy(w, m);
}

function perform(w: World, m: number): void {
  const { s } = w;
  const source = sourceOf(s, m);
  switch (get(s, at.perform)) {
    case phase.ready:
      transfer(w, m);
      if (get(s, at.peerCut) === 0) return;
      w.begin()[at.perform] = phase.lost;
      w.fair("libvirt: perform fails, the network is cut");
      return;
    case phase.underWay:
      w.begin()[at.perform] = phase.ok;
      w.fair("libvirt: perform is answered");
      w.begin()[at.perform] = phase.lost;
      w.fault("libvirt: the reply to perform is lost");
      return;
    case phase.resuming:
      if (copyOf(s, source) !== copy.stopped) return;
      w.begin()[at.perform] = phase.lost;
      w.run(source, copy.running);
      w.fair("libvirtd: resumes an undecided source by itself");
  }
}

function transfer(w: World, m: number): void {
  const { s } = w;
  const [source, target] = [sourceOf(s, m), targetOf(s, m)];
  if (!bothAlive(s, m) || copyOf(s, source) !== copy.running) return;
  if (copyOf(s, target) !== copy.incoming) return;
  const n = w.begin();
  setCopy(n, source, copy.stopped);
  setCopy(n, target, copy.received);
  n[at.perform] = phase.underWay;
  w.fair("qemu: the source stops, the target has its memory");
  switchToPostCopy(w, m);
}

function finish(w: World, m: number): void {
  const { s } = w;
  const [performed, finished] = [get(s, at.perform), get(s, at.finish)];
  const target = targetOf(s, m);
  if (finished === phase.underWay) {
    if (copyOf(s, target) === copy.full) {
      w.begin()[at.finish] = phase.ok;
      w.fair("libvirt: finish is answered");
    }
    w.begin()[at.finish] = phase.lost;
    w.fault("libvirt: the reply to finish is lost");
  }
  const isOver = performed === phase.ok || performed === phase.lost || performed === phase.resuming;
  if (!isOver || finished !== phase.idle || !bothAlive(s, m)) return;
  if (fileOf(s, m) !== file.begun && fileOf(s, m) !== file.committed) return;
  const n = w.begin();
  n[at.finish] = phase.underWay;
  if (copyOf(s, target) === copy.received) setCopy(n, target, copy.full);
  w.fair("launcher: calls finish");
  w.begin()[at.finish] = phase.lost;
  w.fault("libvirt: finish is lost on its way");
}

function switchToPostCopy(w: World, m: number): void {
  const { s } = w;
  const outcome = decisionIn(s, m)?.outcome;
  const record = fileOf(s, m) === file.none ? undefined : { migrationUID: uidOf(m), outcome };
  // The source's agent has just written it, or read it: nobody else changes a committed grant.
  if (w.rules.maySwitch(record, readGrant(s, w.code))) return;
  const n = w.begin();
  setCopy(n, sourceOf(s, m), copy.postCopySource);
  setCopy(n, targetOf(s, m), copy.postCopyWaiting);
  n[at.perform] = phase.postCopy;
  w.fair("qemu: switches to post-copy");
}

function postCopy(w: World, m: number): void {
  const { s } = w;
  const target = targetOf(s, m);
  const isFed = bothAlive(s, m) && copyOf(s, sourceOf(s, m)) === copy.postCopySource;
  switch (copyOf(s, target)) {
    case copy.postCopyWaiting:
      if (isFed) {
        w.begin();
        w.run(target, copy.postCopyRunning);
        w.fair("qemu: the target runs in post-copy");
      }
      streamBreaks(
        w,
        isFed,
        "qemu: the post-copy stream breaks before the target's first run",
        () => w.kill(target),
      );
      return;
    case copy.postCopyRunning:
      if (isFed) {
        setCopy(w.begin(), target, copy.running);
        w.fair("qemu: post-copy completes");
      }
      streamBreaks(w, isFed, "qemu: the post-copy stream breaks", () =>
        setCopy(w.n, target, copy.postCopyBroken),
      );
      return;
    case copy.postCopyBroken:
      if (!isFed) return;
      setCopy(w.begin(), target, copy.postCopyRunning);
      w.fair("launchers: recover post-copy");
  }
}

/** A stream breaks because one side or the network is gone, or, from the budget, for no reason. */
function streamBreaks(w: World, isFed: boolean, step: string, effect: () => void): void {
  const left = get(w.s, at.others);
  if (isFed && left === 0) return;
  const n = w.begin();
  if (isFed) n[at.others] = left - 1;
  effect();
  if (isFed) w.fault(step);
  else w.fair(step);
}
