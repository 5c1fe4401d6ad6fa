import type { Decision, DecisionRecord, SettleRequest } from "./decision.ts";
import {
  type Claimed,
  type Grant,
  type Granted,
  type Handover,
  type Holder,
  isSameHolder,
  type ReadGrant,
} from "./grant.ts";
import { enforce, type GuardName, guards, type Must } from "./guards.ts";
import { type ProofOfEnd, provenEnd } from "./proof-of-end.ts";
import type { Claim, Decided, EarlierHolder, End, GrantRequest, GrantToPod, HandOver } from "./request.ts";

/** A request that was refused. */
export interface Refused {
  /** The guard that refused; `no-such-step` where the grant's state has no such step. */
  readonly refused: GuardName | "no-such-step";
  readonly reason: string;
  /** Set where no component can bring the missing evidence by itself. */
  readonly whatAPersonMustCheck?: string;
}

/** The next grant, to be swapped in; the same value where nothing is to be written. */
export type Verdict = { readonly grant: Grant } | Refused;

/** A copy that somebody wants to resume. */
export type ResumeRequest =
  | {
      readonly as: "target";
      readonly migrationUID: string;
      /** A release over the control channel, or that of the grant. */
      readonly release: Decision | undefined;
    }
  | {
      readonly as: "source";
      readonly holder: Holder;
      /** What the disk says of the last migration that this copy was the source of. */
      readonly record: DecisionRecord | undefined;
      /** A live read of the grant, if there is one. */
      readonly grant: ReadGrant | undefined;
    };

/** A copy that somebody wants to destroy. */
export interface DestroyRequest {
  readonly holder: Holder;
  /** The grant as it was read; undefined where the VMI is gone or another one has its name. */
  readonly grant: ReadGrant | undefined;
  readonly live: boolean;
  /** Whether this copy has resumed or has a release: then nothing that is read destroys it. */
  readonly released: boolean;
  /** Evidence that the other side of a handover has ended. */
  readonly proofs: readonly ProofOfEnd[];
  /** What the disk says of the migration that this copy is the source of. */
  readonly record?: DecisionRecord | undefined;
  /** Whether the target has said that it has the release on its disk, or that it runs. */
  readonly acknowledged?: boolean | undefined;
  /** A controller deletes a Pod and cannot know what the copy in it knows; an agent can. */
  readonly by: "agent" | "controller";
  /** Whether the VMI is being deleted: then its holder is to end, too. */
  readonly ending?: boolean | undefined;
}

/** A Pod whose finalizer is to go, and the VM's memory of it. */
export interface ForgetRequest extends EarlierHolder {
  /** The grant by a live read; undefined where the Pod's VMI is gone. */
  readonly grant: ReadGrant | undefined;
}

/** All rules, as functions of values. */
export interface Rules {
  decide(grant: ReadGrant, request: GrantRequest): Verdict;
  settle(
    record: DecisionRecord | undefined,
    request: SettleRequest,
  ): { readonly record: DecisionRecord } | Refused;
  mayResume(request: ResumeRequest): Refused | undefined;
  maySwitch(record: DecisionRecord | undefined, grant: ReadGrant): Refused | undefined;
  mayDestroy(request: DestroyRequest): Refused | undefined;
  mayForget(request: ForgetRequest): Refused | undefined;
}

/**
 * Makes the rules. `without` takes one guard out, for a checker that wants to see it matter; nothing but
 * a checker does that, so the production rules are made once, in `decide.ts`.
 */
export function createRules({ without }: { readonly without?: GuardName | undefined } = {}): Rules {
  const must = enforce(without);
  return {
    decide(grant, request) {
      if (grant.state === "Invalid") {
        if (must("readable", false)) return decideReadable(asFree, request, must);
        return refuse("readable", `the run grant cannot be read: ${grant.problem}`, lookForGuest);
      }
      return decideReadable(grant, request, must);
    },
    settle: (record, request) => settleWith(record, request, must),
    mayResume: (request) => mayResumeWith(request, must),
    maySwitch(record, grant) {
      if (!must("commit-before-switch", record?.outcome === "committed")) {
        return refuse("commit-before-switch", "the decision to commit is not on disk");
      }
      const isKnown = grant.state === "Committed" && grant.migrationUID === record?.migrationUID;
      return must("commit-known", isKnown)
        ? undefined
        : refuse("commit-known", "the grant does not say that the migration is committed");
    },
    mayDestroy: (request) => mayDestroyWith(request, must),
    mayForget({ holder, proofs, grant }) {
      if (!provenEnd(proofs, holder, must).proven) {
        return refuse("holder-ended", `${nameOf(holder)} is not proven to have ended`);
      }
      const named = grant === undefined || grant.state === "Invalid" ? [] : holdersIn(grant);
      return must("forget-unnamed", !named.some((each) => isSameHolder(each, holder)))
        ? undefined
        : refuse("forget-unnamed", "the grant names it, and the proof would go with the Pod");
    },
  };
}

const asFree: Grant = { state: "Free", vmiUID: "", epoch: 0, seq: 0 };

const lookForGuest =
  "make sure that no node runs the guest, then delete the VMI and let it be created anew";

function refuse(refused: Refused["refused"], reason: string, person?: string): Refused {
  return { refused, reason, ...(person && { whatAPersonMustCheck: person }) };
}

function decideReadable(grant: Grant, request: GrantRequest, must: Must): Verdict {
  switch (request.kind) {
    case "grant":
      return grantTo(grant, request, must);
    case "claim":
      return claim(grant, request, must);
    case "handOver":
      return handOver(grant, request, must);
    case "decided":
      return decided(grant, request, must);
    case "end":
      return end(grant, request, must);
  }
}

function grantTo(grant: Grant, request: GrantToPod, must: Must): Verdict {
  const { podUID, vmiUID, proofs, remembered, earlier } = request;
  if (!must("remember-first", remembered)) {
    return refuse("remember-first", `the VM does not remember the Pod ${podUID} yet`);
  }
  if (grant.state === "Free") {
    if (!must("list-is-live", earlier.live)) {
      return refuse("list-is-live", "the list of Pods is not a live one");
    }
    for (const [guard, list] of [
      ["listed-ended", earlier.listed],
      ["remembered-ended", earlier.remembered],
    ] as const) {
      for (const { holder, proofs: theirs } of list) {
        if (holder.podUID === podUID || must(guard, provenEnd(theirs, holder, must).proven))
          continue;
        return refuse(guard, `${nameOf(holder)} is not proven to have ended`, checkOf(holder));
      }
    }
  }
  const unproven = firstUnproven(grant, proofs, must);
  if (unproven) return unproven;
  if (grant.state === "Granted" && grant.podUID === podUID) return { grant };
  const next: Granted = { ...counted(grant, 1), state: "Granted", vmiUID, podUID };
  return { grant: next };
}

/** Why a grant that names incarnations may not be given to another one. */
function firstUnproven(
  grant: Grant,
  proofs: readonly ProofOfEnd[],
  must: Must,
): Refused | undefined {
  if (!("holder" in grant)) return undefined;
  const named: (readonly [GuardName, Holder])[] = [["holder-ended", grant.holder]];
  if ("target" in grant) named.push(["target-ended", grant.target]);
  for (const [guard, holder] of named) {
    const end = provenEnd(proofs, holder, must);
    if (must(guard, end.proven)) continue;
    const why = end.proven || !end.failed ? "" : `; of the evidence: ${guards[end.failed]}`;
    const reason = `${nameOf(holder)} is not proven to have ended${why}`;
    return refuse(end.proven ? guard : (end.failed ?? guard), reason, checkOf(holder));
  }
  return undefined;
}

function claim(grant: Grant, { holder, evidence }: Claim, must: Must): Verdict {
  switch (grant.state) {
    case "Granted": {
      if (!must("granted-pod", holder.podUID === grant.podUID)) {
        return refuse("granted-pod", `the Pod ${grant.podUID} was granted, not ${holder.podUID}`);
      }
      return { grant: { ...counted(grant, 0), state: "Claimed", holder } };
    }
    case "Claimed": {
      if (isSameHolder(grant.holder, holder)) return { grant };
      const isOfPod = holder.podUID === grant.holder.podUID;
      if (isOfPod && must("one-incarnation", false)) {
        return { grant: { ...counted(grant, 0), state: "Claimed", holder } };
      }
      return refuse("one-incarnation", `${nameOf(grant.holder)} holds the claim`);
    }
    case "HandingOver":
    case "Released":
    case "Committed":
      return claimAsTarget(grant, { kind: "claim", holder, evidence }, must);
    default:
      return noSuchStep(grant, "claimed");
  }
}

function claimAsTarget(grant: Handover, { holder, evidence }: Claim, must: Must): Verdict {
  if (!must("target-claims", isSameHolder(grant.target, holder))) {
    return refuse("target-claims", `${nameOf(grant.target)} is the target of the handover`);
  }
  const isReleased =
    grant.state === "Released" ||
    (evidence === "postCopyComplete"
      ? grant.state === "Committed"
      : evidence?.outcome === "released" && evidence.migrationUID === grant.migrationUID);
  if (!must("claim-needs-release", isReleased)) {
    return refuse("claim-needs-release", `the migration ${grant.migrationUID} is not released`);
  }
  return { grant: { ...counted(grant, 1), state: "Claimed", holder } };
}

function handOver(grant: Grant, request: HandOver, must: Must): Verdict {
  const { target, migrationUID, remembered, sourceRuns } = request;
  if (!must("remember-first", remembered)) {
    return refuse("remember-first", `the VM does not remember the Pod ${target.podUID} yet`);
  }
  if (!("holder" in grant)) return noSuchStep(grant, "handed over");
  if (!must("one-handover", grant.state === "Claimed")) {
    return refuse("one-handover", "another handover is under way");
  }
  if (!must("source-runs", sourceRuns)) {
    return refuse("source-runs", "the holder's guest does not run yet");
  }
  const { holder } = grant;
  return { grant: { ...counted(grant, 0), state: "HandingOver", holder, target, migrationUID } };
}

function decided(grant: Grant, { decision }: Decided, must: Must): Verdict {
  if (!("target" in grant)) return noSuchStep(grant, decision.outcome);
  if (!must("own-decision", decision.migrationUID === grant.migrationUID)) {
    return refuse("own-decision", `the handover is of the migration ${grant.migrationUID}`);
  }
  const back: Claimed = { ...counted(grant, 0), state: "Claimed", holder: grant.holder };
  const isOpen = grant.state === "HandingOver";
  switch (decision.outcome) {
    case "released":
      return grant.state === "Released"
        ? stays(grant)
        : { grant: { ...grant, ...counted(grant, 0), state: "Released" } };
    case "committed":
      return isOpen
        ? { grant: { ...grant, ...counted(grant, 0), state: "Committed" } }
        : stays(grant);
    case "aborted":
      return isOpen ? { grant: back } : stays(grant);
    case "returned":
      return grant.state === "Released" ? stays(grant) : { grant: back };
  }
}

function end(grant: Grant, { proofs }: End, must: Must): Verdict {
  if (grant.state === "Ended") return { grant };
  const unproven = firstUnproven(grant, proofs, must);
  if (unproven) return unproven;
  const { vmiUID, epoch, seq } = grant;
  return { grant: { state: "Ended", vmiUID, epoch: Math.max(epoch, 1), seq: seq + 1 } };
}

function settleWith(
  record: DecisionRecord | undefined,
  request: SettleRequest,
  must: Must,
): { readonly record: DecisionRecord } | Refused {
  const { migrationUID, outcome } = request;
  const begun = record?.migrationUID === migrationUID;
  if (!must("begun-here", begun)) {
    return refuse(
      "begun-here",
      `nothing on this disk says that the migration ${migrationUID} began here`,
      "see on which node the guest runs; if it runs nowhere, delete both launcher Pods",
    );
  }
  const before = record?.outcome;
  if (before === outcome && record) return { record };
  // A commit ends by itself where post-copy runs; where QEMU never switched, pre-copy goes on or back.
  const isFirst = before === undefined || (before === "committed" && outcome !== "aborted");
  if (!must("first-decision", isFirst)) {
    return refuse("first-decision", `the migration ${migrationUID} was ${before} before`);
  }
  if (outcome === "released") {
    if (!must("perform-answered", request.perform === "ok")) {
      return refuse("perform-answered", "perform was not answered with ok; abort");
    }
    if (!must("finish-answered", request.finish === "ok")) {
      return refuse("finish-answered", "finish was not answered with ok; abort");
    }
  }
  if (outcome === "returned" && !must("never-switched", request.neverSwitched)) {
    return refuse("never-switched", "the source is, or was, in post-copy");
  }
  return { record: { migrationUID, outcome } };
}

function mayResumeWith(request: ResumeRequest, must: Must): Refused | undefined {
  if (request.as === "source") {
    const { record, grant, holder } = request;
    const isOnDisk = record?.outcome === "aborted" || record?.outcome === "returned";
    const isInGrant = grant?.state === "Claimed" && isSameHolder(grant.holder, holder);
    return must("resume-after-abort", isOnDisk || isInGrant)
      ? undefined
      : refuse("resume-after-abort", "neither the disk nor the grant says that it was aborted");
  }
  const { release, migrationUID } = request;
  if (release?.outcome !== "released") {
    return refuse("claim-needs-release", `the migration ${migrationUID} is not released`);
  }
  return must("resume-own-release", release.migrationUID === migrationUID)
    ? undefined
    : refuse("resume-own-release", `the release is of the migration ${release.migrationUID}`);
}

function mayDestroyWith(request: DestroyRequest, must: Must): Refused | undefined {
  const { holder, grant, live, acknowledged, record } = request;
  const isReleased = record?.outcome === "released";
  // The source's own disk says that it never runs again; the API server need not be in reach for that.
  if (isReleased && acknowledged) return undefined;
  if (!must("destroy-live-read", live)) {
    return refuse("destroy-live-read", "the grant was read from a cache");
  }
  if (grant === undefined) return undefined;
  const isHandover = grant.state !== "Invalid" && "target" in grant;
  const isSide = isHandover && [grant.holder, grant.target].some((side) => isSameHolder(side, holder));
  if (isSide && !must("handover-stays", request.by === "agent")) {
    return refuse("handover-stays", "a handover is under way; ask for an abort");
  }
  if (request.ending && !isSide && grant.state !== "Invalid") return undefined;
  if (isHandover && isSameHolder(grant.holder, holder)) {
    const isKnown = grant.state === "Released";
    if (isReleased && record.migrationUID === grant.migrationUID) {
      return must("release-known", isKnown)
        ? undefined
        : refuse("release-known", "neither the grant nor the target has the release");
    }
    return isKnown ? undefined : refuse("destroy-unnamed", "it is the source of a handover");
  }
  return must("destroy-unnamed", isLeftOver(grant, request, must))
    ? undefined
    : refuse("destroy-unnamed", "the grant names it");
}

/** Whether a copy, not the source of a handover, has nothing to wait for. */
function isLeftOver(
  grant: ReadGrant,
  { holder, released, proofs }: DestroyRequest,
  must: Must,
): boolean {
  switch (grant.state) {
    case "HandingOver":
    case "Committed":
      // Without its source, and without a release, a target never becomes whole.
      if (!isSameHolder(grant.target, holder)) return !released;
      return !released && provenEnd(proofs, grant.holder, must).proven;
    case "Released":
      return !released && !isSameHolder(grant.target, holder);
    case "Claimed":
      return !released && !isSameHolder(grant.holder, holder);
    case "Granted":
      return !released && grant.podUID !== holder.podUID;
    case "Free":
    case "Ended":
      return !released;
    case "Invalid":
      return false;
  }
}

function holdersIn(grant: Grant): readonly Holder[] {
  if (!("holder" in grant)) return [];
  return "target" in grant ? [grant.holder, grant.target] : [grant.holder];
}

function counted(grant: Grant, epochs: 0 | 1): Pick<Grant, "vmiUID" | "epoch" | "seq"> {
  return { vmiUID: grant.vmiUID, epoch: grant.epoch + epochs, seq: grant.seq + 1 };
}

/** A decision that is known already, or that a later one has overtaken. */
function stays(grant: Grant): Verdict {
  return { grant };
}

function noSuchStep(grant: Grant, what: string): Refused {
  return refuse("no-such-step", `a grant that is ${grant.state} cannot be ${what}`);
}

function nameOf({ podUID, node }: Holder): string {
  return `the Pod ${podUID} on node ${node}`;
}

function checkOf({ podUID, node, bootID }: Holder): string {
  return `make sure that node ${node} (boot ${bootID}) is off or runs no process of the Pod ${podUID}; then run "virtkit fence confirm ${node}"`;
}
