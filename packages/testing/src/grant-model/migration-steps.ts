import type { Answer, SettleRequest } from "@virtkit/api/grant";
import {
  agentOnline,
  agentUp,
  at,
  container,
  containerOf,
  copy,
  copyOf,
  file,
  fileOf,
  get,
  grantState,
  hasMessage,
  hasRecord,
  incarnationCount,
  isVmiGone,
  migrationTo,
  node,
  nodeBit,
  nodeOf,
  phase,
  secondAgent,
  setCopy,
  setFile,
  setMessage,
  setSecondAgent,
  setStale,
  setTold,
  sourceOf,
  targetOf,
  toldOf,
} from "./layout.ts";
import { holderOf } from "./evidence.ts";
import { agentWrites, recordOf } from "./agent-steps.ts";
import { decisionIn, isHandover, readGrant, uidOf, type World } from "./world.ts";

/** A live migration: what the source's launcher and agent do, QEMU and libvirt on both sides, and the message. */
export function migrationSteps(w: World): void {
  const { s } = w;
  for (let m = 1; m <= get(s, at.migrationsUsed); m++) {
    message(w, m);
    const source = sourceOf(s, m);
    if (source >= incarnationCount) continue;
    begin(w, m);
    settle(w, m);
    makeKnown(w, m);
    resumeSource(w, m);
    endSource(w, m);
    second(w, m);
    if (get(s, at.phaseOf) === m) phases(w, m);
  }
}

function bothAlive(s: Uint8Array, m: number): boolean {
  return (
    containerOf(s, sourceOf(s, m)) === container.alive &&
    containerOf(s, targetOf(s, m)) === container.alive &&
    get(s, at.peerCut) === 0
  );
}

/** The source's agent reads that it is to hand over: it opens a folder, and only for a guest that runs. */
function begin(w: World, m: number): void {
  const { s } = w;
  const source = sourceOf(s, m);
  const isAsked = get(s, at.grant) === grantState.HandingOver && get(s, at.migration) === m;
  if (!isAsked || copyOf(s, source) !== copy.running) return;
  if (isVmiGone(s, source) || !agentOnline(s, nodeOf(s, source))) return;
  // An agent that does not know its own claim may have begun before, and a late write may be under way.
  if (fileOf(s, m) === file.none && hasRecord(s, source)) {
    setFile(w.begin(), m, file.begun);
    w.fair("source's agent: begins the migration");
  }
  const target = targetOf(s, m);
  if (fileOf(s, m) !== file.begun || get(s, at.phaseOf) !== 0 || !bothAlive(s, m)) return;
  if (copyOf(s, target) !== copy.none) return;
  const n = w.begin();
  setCopy(n, target, copy.incoming);
  setStale(n, target, false);
  n[at.perform] = phase.ready;
  n[at.finish] = phase.idle;
  n[at.phaseOf] = m;
  w.fair("launchers: begin and prepare");
}

/** The phases as libvirt carries them out. The launcher goes on to finish whatever perform answered. */
function phases(w: World, m: number): void {
  const { s } = w;
  const [source, target] = [sourceOf(s, m), targetOf(s, m)];
  const [perform, finish] = [get(s, at.perform), get(s, at.finish)];
  if (perform === phase.ready && bothAlive(s, m) && copyOf(s, source) === copy.running && copyOf(s, target) === copy.incoming) {
    const n = w.begin();
    setCopy(n, source, copy.stopped);
    setCopy(n, target, copy.received);
    n[at.perform] = phase.underWay;
    w.fair("qemu: the source stops, the target has its memory");
    switchToPostCopy(w, m);
  }
  if (perform === phase.ready && get(s, at.peerCut) !== 0) {
    w.begin()[at.perform] = phase.lost;
    w.fair("libvirt: perform fails, the network is cut");
  }
  if (perform === phase.underWay) {
    w.begin()[at.perform] = phase.ok;
    w.fair("libvirt: perform is answered");
    w.begin()[at.perform] = phase.lost;
    w.fault("libvirt: the answer to perform is lost");
  }
  if (perform === phase.resuming && copyOf(s, source) === copy.stopped) {
    w.begin()[at.perform] = phase.lost;
    w.run(source, copy.running);
    w.fair("libvirtd: resumes an undecided source by itself");
  }
  const afterPerform = perform === phase.ok || perform === phase.lost || perform === phase.resuming;
  if (afterPerform && finish === phase.idle && bothAlive(s, m) && (fileOf(s, m) === file.begun || fileOf(s, m) === file.committed)) {
    const value = copyOf(s, target);
    const n = w.begin();
    n[at.finish] = phase.underWay;
    if (value === copy.received) setCopy(n, target, copy.full);
    w.fair("launcher: calls finish");
    w.begin()[at.finish] = phase.lost;
    w.fault("libvirt: finish is lost on its way");
  }
  if (finish === phase.underWay) {
    if (copyOf(s, target) === copy.full) {
      w.begin()[at.finish] = phase.ok;
      w.fair("libvirt: finish is answered");
    }
    w.begin()[at.finish] = phase.lost;
    w.fault("libvirt: the answer to finish is lost");
  }
  if (perform === phase.postCopy) postCopy(w, m);
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
  const [source, target] = [sourceOf(s, m), targetOf(s, m)];
  const value = copyOf(s, target);
  const isFed = bothAlive(s, m) && copyOf(s, source) === copy.postCopySource;
  if (value === copy.postCopyWaiting) {
    if (isFed) {
      w.begin();
      w.run(target, copy.postCopyRunning);
      w.fair("qemu: the target runs in post-copy");
    }
    if (!isFed || get(s, at.others) > 0) {
      const n = w.begin();
      if (isFed) n[at.others] = get(n, at.others) - 1;
      w.kill(target);
      if (isFed) w.fault("qemu: the post-copy stream breaks before the target's first run");
      else w.fair("qemu: the post-copy stream breaks before the target's first run");
    }
  }
  if (value === copy.postCopyRunning) {
    if (isFed) {
      setCopy(w.begin(), target, copy.running);
      w.fair("qemu: post-copy completes");
    }
    const n = w.begin();
    setCopy(n, target, copy.postCopyBroken);
    if (!isFed) w.fair("qemu: the post-copy stream breaks");
    else if (get(s, at.others) > 0) {
      n[at.others] = get(n, at.others) - 1;
      w.fault("qemu: the post-copy stream breaks");
    }
  }
  if (value === copy.postCopyBroken && isFed) {
    setCopy(w.begin(), target, copy.postCopyRunning);
    w.fair("launchers: recover post-copy");
  }
}

/** The source's agent puts a decision on its disk; all that the rules permit may happen. */
function settle(w: World, m: number): void {
  const { s } = w;
  const source = sourceOf(s, m);
  if (!agentUp(s, nodeOf(s, source))) return;
  const now = fileOf(s, m);
  const isCurrent = isHandover(s) && get(s, at.migration) === m;
  if (now === file.none && !isCurrent) return;
  const answer = (value: number): Answer => (value === phase.ok ? "ok" : "none");
  const isOwn = get(s, at.phaseOf) === m;
  const migrationUID = uidOf(m);
  const sourceRuns = copyOf(s, source) === copy.running;
  const requests: SettleRequest[] = [{ outcome: "aborted", migrationUID, sourceRuns }];
  if (isOwn) {
    const [perform, finish] = [answer(get(s, at.perform)), answer(get(s, at.finish))];
    requests.push({ outcome: "released", migrationUID, perform, finish });
    if (get(s, at.perform) === phase.ready) requests.push({ outcome: "committed", migrationUID });
  }
  const value = copyOf(s, source);
  if (value !== copy.none) {
    requests.push({ outcome: "returned", migrationUID, neverSwitched: value !== copy.postCopySource });
  }
  const record =
    now === file.none ? undefined : { migrationUID, outcome: decisionIn(s, m)?.outcome };
  for (const request of requests) {
    if (request.outcome === "returned" && now !== file.committed) continue;
    const verdict = w.rules.settle(record, request);
    if ("refused" in verdict || file[request.outcome] === now) continue;
    const n = w.begin();
    setFile(n, m, file[request.outcome]);
    w.fair(`source's agent: decides ${request.outcome}`);
  }
}

/** Swaps the decision into the grant, and tells the target of a release. */
function makeKnown(w: World, m: number): void {
  const { s } = w;
  const n = nodeOf(s, sourceOf(s, m));
  const decision = decisionIn(s, m);
  if (!decision || !agentUp(s, n)) return;
  if (decision.outcome === "released" && !hasMessage(s, m) && containerOf(s, targetOf(s, m)) === container.alive) {
    setMessage(w.begin(), m, true);
    w.fair("source's agent: sends the release");
  }
  if (!agentOnline(s, n) || isVmiGone(s, sourceOf(s, m)) || !isHandover(s)) return;
  const next = w.decide(`decided ${m} ${decision.outcome}`, () => ({ kind: "decided", decision }));
  agentWrites(w, next, `source's agent: makes known that it is ${decision.outcome}`);
}

/** Messages are lost, come late, and come again. */
function message(w: World, m: number): void {
  const { s } = w;
  if (!hasMessage(s, m)) return;
  setMessage(w.begin(), m, false);
  w.fault("network: a release is lost");
  const n = nodeOf(s, targetOf(s, m));
  if (get(s, at.peerCut) !== 0 || !agentUp(s, n)) return;
  const after = w.begin();
  let isNew = false;
  for (let inc = 0; inc < incarnationCount; inc++) {
    if (containerOf(s, inc) !== container.alive || nodeOf(s, inc) !== n) continue;
    const value = copyOf(s, inc);
    if (migrationTo(s, inc) === 0 || value < copy.incoming || value > copy.full) continue;
    setTold(after, inc, m);
    isNew = true;
  }
  if (isNew) w.fair("target's agent: gets a release");
}

function resumeSource(w: World, m: number): void {
  const { s } = w;
  const source = sourceOf(s, m);
  const value = copyOf(s, source);
  if (value !== copy.stopped && value !== copy.postCopySource) return;
  const n = nodeOf(s, source);
  const { record } = recordOf(s, source);
  const isOfSecond = secondAgent(s, n) === 2;
  if (!agentUp(s, n)) return;
  const isRead = agentOnline(s, n) && !isVmiGone(s, source);
  const grant = isRead ? readGrant(s, w.code) : undefined;
  const request = { as: "source", record, holder: holderOf(s, source), grant } as const;
  if (w.rules.mayResume(request) && !isOfSecond) return;
  w.begin();
  w.run(source, copy.running);
  w.n[at.perform] = 0;
  w.n[at.finish] = 0;
  w.n[at.phaseOf] = 0;
  w.fair("source's agent: resumes the source");
}

/** The source's copy ends: it was released, post-copy is complete, or both sides of a post-copy are lost. */
function endSource(w: World, m: number): void {
  const { s } = w;
  const [source, target] = [sourceOf(s, m), targetOf(s, m)];
  const value = copyOf(s, source);
  if (containerOf(s, source) !== container.alive) return;
  if (value === copy.postCopySource) {
    const isComplete = copyOf(s, target) === copy.running;
    const isLost = containerOf(s, target) === container.dead && agentOnline(s, nodeOf(s, source)) && w.isProven(target);
    if (isComplete || isLost) {
      w.begin();
      w.destroy(source);
      w.fair(isComplete ? "launcher: confirms post-copy" : "source's agent: ends a source whose target is lost");
    }
  }
  if (value !== copy.stopped || !agentUp(s, nodeOf(s, source)) || get(s, at.peerCut) !== 0) return;
  const acknowledged = toldOf(s, target) === m || copyOf(s, target) === copy.running;
  const record = fileOf(s, m);
  if (record !== file.released) return;
  if (!w.mayDestroy(source, { grant: w.code, live: false, by: "agent", record, acknowledged })) return;
  w.begin();
  w.destroy(source);
  w.fair("launcher: confirms, the source ends");
}

/** A second agent on the source's node, with a state directory of its own. */
function second(w: World, m: number): void {
  const { s } = w;
  const source = sourceOf(s, m);
  const n = nodeOf(s, source);
  if (w.without !== "one-agent" || secondAgent(s, n) !== 1 || (node(s, n) & nodeBit.off) !== 0) return;
  const isAsked = get(s, at.grant) === grantState.HandingOver && get(s, at.migration) === m;
  if (!isAsked || copyOf(s, source) !== copy.running || !hasRecord(s, source)) return;
  setSecondAgent(w.begin(), n, 2);
  w.fair("second agent: decides aborted in a directory of its own");
}
