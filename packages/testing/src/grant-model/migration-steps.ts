import type { Answer, SettleRequest } from "@virtkit/api/grant";
import { agentWrites, recordOf } from "./agent-steps.ts";
import { holderOf } from "./evidence.ts";
import { decisionIn, isHandover, readGrant, uidOf } from "./grant-code.ts";
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
import { bothAlive, phaseSteps } from "./phase-steps.ts";
import type { World } from "./world.ts";

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
    if (get(s, at.phaseOf) === m) phaseSteps(w, m);
  }
}

/** The source's agent reads that it must hand over: it opens a directory, and only for a running guest. */
function begin(w: World, m: number): void {
  const { s } = w;
  const source = sourceOf(s, m);
  const isAsked = get(s, at.grant) === grantState.HandingOver && get(s, at.migration) === m;
  if (!isAsked || copyOf(s, source) !== copy.running) return;
  if (isVmiGone(s, source) || !agentOnline(s, nodeOf(s, source))) return;
  // An agent that does not know its own claim may have begun before, and a late write may be in progress.
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

/** The source's agent puts a decision on its disk; all that the rules permit may happen. */
function settle(w: World, m: number): void {
  const { s } = w;
  if (!agentUp(s, nodeOf(s, sourceOf(s, m)))) return;
  const now = fileOf(s, m);
  const isCurrent = isHandover(s) && get(s, at.migration) === m;
  if (now === file.none && !isCurrent) return;
  const record =
    now === file.none ? undefined : { migrationUID: uidOf(m), outcome: decisionIn(s, m)?.outcome };
  for (const request of settleRequests(s, m)) {
    const verdict = w.rules.settle(record, request);
    if ("refused" in verdict || file[request.outcome] === now) continue;
    setFile(w.begin(), m, file[request.outcome]);
    w.fair(`source's agent: decides ${request.outcome}`);
  }
}

/** All that an agent could ask for, whether it makes sense or not. */
function settleRequests(s: Uint8Array, m: number): readonly SettleRequest[] {
  const value = copyOf(s, sourceOf(s, m));
  const migrationUID = uidOf(m);
  const requests: SettleRequest[] = [
    { outcome: "aborted", migrationUID, sourceRuns: value === copy.running },
  ];
  if (get(s, at.phaseOf) === m) {
    const answer = (index: number): Answer => (get(s, index) === phase.ok ? "ok" : "none");
    const [perform, finish] = [answer(at.perform), answer(at.finish)];
    requests.push({ outcome: "released", migrationUID, perform, finish });
    if (get(s, at.perform) === phase.ready) requests.push({ outcome: "committed", migrationUID });
  }
  if (value !== copy.none && fileOf(s, m) === file.committed) {
    const neverSwitched = value !== copy.postCopySource;
    requests.push({ outcome: "returned", migrationUID, neverSwitched });
  }
  return requests;
}

/** Swaps the decision into the grant, and informs the target of a release. */
function makeKnown(w: World, m: number): void {
  const { s } = w;
  const n = nodeOf(s, sourceOf(s, m));
  const decision = decisionIn(s, m);
  if (!decision || !agentUp(s, n)) return;
  if (decision.outcome === "released") sendRelease(w, m);
  if (!agentOnline(s, n) || isVmiGone(s, sourceOf(s, m)) || !isHandover(s)) return;
  const next = w.decide(`decided ${m} ${decision.outcome}`, () => ({ kind: "decided", decision }));
  agentWrites(w, next, `source's agent: publishes that it is ${decision.outcome}`);
}

function sendRelease(w: World, m: number): void {
  const { s } = w;
  if (hasMessage(s, m) || containerOf(s, targetOf(s, m)) !== container.alive) return;
  setMessage(w.begin(), m, true);
  w.fair("source's agent: sends the release");
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
  if (isNew) w.fair("target's agent: receives a release");
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
    const isLost =
      containerOf(s, target) === container.dead &&
      agentOnline(s, nodeOf(s, source)) &&
      w.isProven(target);
    if (isComplete || isLost) {
      w.begin();
      w.destroy(source);
      w.fair(
        isComplete
          ? "launcher: confirms post-copy"
          : "source's agent: ends a source whose target is lost",
      );
    }
  }
  if (value !== copy.stopped || !agentUp(s, nodeOf(s, source)) || get(s, at.peerCut) !== 0) return;
  const acknowledged = toldOf(s, target) === m || copyOf(s, target) === copy.running;
  const record = fileOf(s, m);
  if (record !== file.released) return;
  if (!w.mayDestroy(source, { grant: w.code, live: false, by: "agent", record, acknowledged }))
    return;
  w.begin();
  w.destroy(source);
  w.fair("launcher: confirms, the source ends");
}

/** A second agent on the source's node, with a state directory of its own. */
function second(w: World, m: number): void {
  const { s } = w;
  const source = sourceOf(s, m);
  const n = nodeOf(s, source);
  if (w.without !== "one-agent" || secondAgent(s, n) !== 1 || (node(s, n) & nodeBit.off) !== 0)
    return;
  const isAsked = get(s, at.grant) === grantState.HandingOver && get(s, at.migration) === m;
  if (!isAsked || copyOf(s, source) !== copy.running || !hasRecord(s, source)) return;
  setSecondAgent(w.begin(), n, 2);
  w.fair("second agent: decides aborted in a directory of its own");
}
