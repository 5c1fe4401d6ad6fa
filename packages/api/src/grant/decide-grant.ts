import {
  type Claimed,
  type Grant,
  type Granted,
  type Handover,
  type Holder,
  isSameHolder,
} from "./grant.ts";
import { type GuardName, guards, type Must } from "./guards.ts";
import { type ProofOfEnd, provenEnd } from "./proof-of-end.ts";
import { checkOf, nameOf, type Refused, refuse } from "./refusal.ts";
import type { Claim, Decided, End, GrantRequest, GrantToPod, HandOver } from "./request.ts";

/** The next grant to swap in; the same value if there is nothing to write. */
export type Verdict = { readonly grant: Grant } | Refused;

/** The transitions of a readable grant. */
export function decideReadable(grant: Grant, request: GrantRequest, must: Must): Verdict {
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
  const { podUID, vmiUID, proofs, remembered } = request;
  if (!must("remember-first", remembered)) {
    return refuse("remember-first", `the VM does not remember the Pod ${podUID} yet`);
  }
  const leftOver = grant.state === "Free" ? unprovenEarlier(request, must) : undefined;
  if (leftOver) return leftOver;
  const unproven = firstUnproven(grant, proofs, must);
  if (unproven) return unproven;
  if (grant.state === "Granted" && grant.podUID === podUID) return { grant };
  const next: Granted = { ...counted(grant, 1), state: "Granted", vmiUID, podUID };
  return { grant: next };
}

/**
 * Why the first grant of a VMI may not be given: an earlier VMI of the same name may have left a guest running.
 */
function unprovenEarlier({ earlier }: GrantToPod, must: Must): Refused | undefined {
  if (!must("list-is-live", earlier.live)) {
    return refuse("list-is-live", "the list of Pods was not read live");
  }
  const lists = [
    ["listed-ended", earlier.listed],
    ["remembered-ended", earlier.remembered],
  ] as const;
  for (const [guard, list] of lists) {
    const unproven = list.find(
      ({ holder, proofs }) => !must(guard, provenEnd(proofs, holder, must).proven),
    );
    if (!unproven) continue;
    const { holder } = unproven;
    return refuse(guard, `${nameOf(holder)} is not proven to have ended`, checkOf(holder));
  }
  return undefined;
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
    const why = end.proven || !end.failed ? "" : `; the evidence fails: ${guards[end.failed]}`;
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
    return refuse("one-handover", "another handover is in progress");
  }
  if (!must("source-runs", sourceRuns)) {
    return refuse("source-runs", "the holder's guest is not running yet");
  }
  const { holder } = grant;
  return { grant: { ...counted(grant, 0), state: "HandingOver", holder, target, migrationUID } };
}

function decided(grant: Grant, { decision }: Decided, must: Must): Verdict {
  if (!("target" in grant)) return noSuchStep(grant, decision.outcome);
  if (!must("own-decision", decision.migrationUID === grant.migrationUID)) {
    return refuse("own-decision", `the handover belongs to migration ${grant.migrationUID}`);
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
    case "returned":
      return grant.state === "Released" ? stays(grant) : { grant: back };
  }
}

function end(grant: Grant, { vmiUID, proofs }: End, must: Must): Verdict {
  if (grant.state === "Ended") return { grant };
  const unproven = firstUnproven(grant, proofs, must);
  if (unproven) return unproven;
  const { epoch, seq } = grant;
  return {
    grant: {
      state: "Ended",
      vmiUID: grant.vmiUID || vmiUID,
      epoch: Math.max(epoch, 1),
      seq: seq + 1,
    },
  };
}

function counted(grant: Grant, epochs: 0 | 1): Pick<Grant, "vmiUID" | "epoch" | "seq"> {
  return { vmiUID: grant.vmiUID, epoch: grant.epoch + epochs, seq: grant.seq + 1 };
}

/** A decision that is already known, or superseded by a later one. */
function stays(grant: Grant): Verdict {
  return { grant };
}

function noSuchStep(grant: Grant, what: string): Refused {
  return refuse("no-such-step", `a grant in state ${grant.state} cannot be ${what}`);
}
