import type { Claim, DecisionRecord } from "@virtkit/api/grant";
import { isNamed, putLate } from "./controller-steps.ts";
import { holderOf } from "./evidence.ts";
import { codeIn, decisionIn, type GrantCode, isHandover, uidOf } from "./grant-code.ts";
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
  hasRecord,
  holdsMayRun,
  incarnationCount,
  isVmiGone,
  migrationTo,
  node,
  nodeBit,
  nodeOf,
  podOf,
  setMayRun,
  setNode,
  setRecord,
  sourceOf,
  toldOf,
  vmi,
} from "./layout.ts";
import type { World } from "./world.ts";

/** What the node agents do but for migrations that they are the source of. */
export function agentSteps(w: World): void {
  const { s } = w;
  for (let n = 0; n < 2; n++) {
    if ((node(s, n) & (nodeBit.off | nodeBit.agent)) === 0) {
      setNode(w.begin(), n, nodeBit.agent, true);
      w.fair("agent: starts again");
    }
  }
  for (let inc = 0; inc < incarnationCount; inc++) {
    if (containerOf(s, inc) !== container.alive) continue;
    const n = nodeOf(s, inc);
    if (!agentUp(s, n)) continue;
    start(w, inc);
    resumeTarget(w, inc);
    if (!agentOnline(s, n)) continue;
    recordTarget(w, inc);
    claim(w, inc);
    takeOver(w, inc);
    destroyLeftOver(w, inc);
    endEmptyLauncher(w, inc);
    endDeleted(w, inc);
  }
}

/** A VMI that is being deleted ends, also in a container that the kubelet has lost sight of. */
function endDeleted(w: World, inc: number): void {
  const { s } = w;
  if (get(s, at.vmi) !== vmi.deleting || isVmiGone(s, inc)) return;
  if (!w.mayDestroy(inc, { grant: w.code, live: true, by: "agent", ending: true })) return;
  w.begin();
  w.destroy(inc);
  w.fair("agent: ends the guest of a VMI that is being deleted");
}

/** A write of an agent; it may time out and land later. */
export function agentWrites(
  w: World,
  next: GrantCode,
  step: string,
  { before, after }: { before?: (n: Uint8Array) => void; after?: (n: Uint8Array) => void } = {},
): void {
  const { s } = w;
  if (next < 0 || next === codeIn(s)) return;
  w.begin();
  before?.(w.n);
  w.swap(next);
  after?.(w.n);
  w.fair(step);
  if (get(s, at.lateWrites) === 0 || get(s, at.late) !== 0) return;
  w.begin();
  before?.(w.n);
  putLate(w, next);
  w.fault(`${step}; the write times out`);
}

function claim(w: World, inc: number): void {
  const { s } = w;
  const value = copyOf(s, inc);
  const asTarget = migrationTo(s, inc) !== 0 && isHandover(s);
  if (isVmiGone(s, inc)) return;
  if (!asTarget && value !== copy.none && value !== copy.full) return;
  // An agent without its state takes over what it sees running in the very container that the grant names.
  if (asTarget && !hasRecord(s, inc) && value !== copy.running) return;
  const evidence = claimEvidence(s, inc);
  const next = w.decide(`claim ${inc} ${JSON.stringify(evidence)}`, () => ({
    kind: "claim",
    holder: holderOf(s, inc),
    evidence,
  }));
  agentWrites(w, next, asTarget ? "target's agent: claims" : "agent: claims", {
    before: (n) => setRecord(n, inc, true),
    after: (n) => setMayRun(n, inc, true),
  });
  // It crashed, or its write came late, and it finds its own claim: the nonce is on its disk.
  const isOwn = next === codeIn(s) && (hasRecord(s, inc) || value === copy.full);
  if (isOwn && !asTarget && !holdsMayRun(s, inc)) {
    setMayRun(w.begin(), inc, true);
    w.fair("agent: finds its own claim again");
  }
}

/** What a target must present: the release of its own migration, or a guest that post-copy has brought over. */
function claimEvidence(s: Uint8Array, inc: number): Claim["evidence"] {
  const m = migrationTo(s, inc);
  if (m === 0) return undefined;
  if (toldOf(s, inc) === m) return { migrationUID: uidOf(m), outcome: "released" };
  return copyOf(s, inc) === copy.running ? "postCopyComplete" : undefined;
}

/** The grant names the container, and its guest runs: an agent without its state makes it its own again. */
function takeOver(w: World, inc: number): void {
  const { s } = w;
  const isNamedAlone = get(s, at.grant) === grantState.Claimed && get(s, at.holder) === inc;
  if (!isNamedAlone || isVmiGone(s, inc) || hasRecord(s, inc)) return;
  if (copyOf(s, inc) !== copy.running) return;
  setRecord(w.begin(), inc, true);
  w.fair("agent: takes over a guest that it finds running");
}

function start(w: World, inc: number): void {
  const { s } = w;
  if (!holdsMayRun(s, inc) || copyOf(s, inc) !== copy.none) return;
  const n = w.begin();
  setMayRun(n, inc, false);
  w.run(inc, copy.running);
  w.fair("agent: starts the guest");
}

/** The target's agent draws a nonce before a handover names it. */
function recordTarget(w: World, inc: number): void {
  const { s } = w;
  const m = migrationTo(s, inc);
  if (m === 0 || hasRecord(s, inc) || copyOf(s, inc) !== copy.none || isNamed(s, inc)) return;
  if (sourceOf(s, m) !== 7) return;
  setRecord(w.begin(), inc, true);
  w.fair("target's agent: is ready to receive");
}

function resumeTarget(w: World, inc: number): void {
  const { s } = w;
  const value = copyOf(s, inc);
  const m = migrationTo(s, inc);
  if (m === 0 || value < copy.incoming || value > copy.full) return;
  const told = toldOf(s, inc);
  const reads = agentOnline(s, nodeOf(s, inc)) && !isVmiGone(s, inc);
  const isReleased = reads && get(s, at.grant) === grantState.Released && get(s, at.target) === inc;
  const from = isReleased ? get(s, at.migration) : told;
  const release =
    from === 0 ? undefined : ({ migrationUID: uidOf(from), outcome: "released" } as const);
  const refused = w.rules.mayResume({ as: "target", migrationUID: uidOf(m), release });
  if (refused && !holdsMayRun(s, inc)) return;
  const n = w.begin();
  setMayRun(n, inc, false);
  w.run(inc, copy.running);
  w.fair("target's agent: resumes the guest");
}

/** What the disk says of the migration that an incarnation is the source of, latest first. */
export function recordOf(
  s: Uint8Array,
  inc: number,
): { m: number; record: DecisionRecord | undefined } {
  for (let m = get(s, at.migrationsUsed); m > 0; m--) {
    if (sourceOf(s, m) !== inc) continue;
    if (fileOf(s, m) === file.none) return { m, record: undefined };
    return { m, record: { migrationUID: uidOf(m), outcome: decisionIn(s, m)?.outcome } };
  }
  return { m: 0, record: undefined };
}

function destroyLeftOver(w: World, inc: number): void {
  const { s } = w;
  const value = copyOf(s, inc);
  const isGone = isVmiGone(s, inc);
  if (value === copy.none && !isGone) return;
  const { m } = recordOf(s, inc);
  const grant = isGone ? -1 : w.code;
  const record = m === 0 ? file.none : fileOf(s, m);
  if (!w.mayDestroy(inc, { grant, live: true, by: "agent", record })) return;
  // The agent looks at the domain first: a guest that runs is not left over while its VMI is there.
  w.begin();
  w.destroy(inc);
  w.fair("agent: destroys a copy that is left over");
}

/**
 * A launcher without a domain whose claim the agent does not know: nobody will ever start a guest there. Its
 * end is the proof that lets the VM continue.
 */
function endEmptyLauncher(w: World, inc: number): void {
  const { s } = w;
  if (copyOf(s, inc) !== copy.none || isVmiGone(s, inc)) return;
  const isSourceless = isHandover(s) && get(s, at.target) === inc && w.isProven(get(s, at.holder));
  const isUnknown =
    get(s, at.grant) === grantState.Claimed && get(s, at.holder) === inc && !hasRecord(s, inc);
  const isSecond = get(s, at.extraPod) - 1 === podOf(s, inc) && !isNamed(s, inc);
  if (!isUnknown && !isSourceless && !isSecond) return;
  if (holdsMayRun(s, inc)) return;
  w.begin();
  w.destroy(inc);
  w.fair("agent: ends a launcher without a guest");
}
