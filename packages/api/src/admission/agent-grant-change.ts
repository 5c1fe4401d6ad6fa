import {
  type Claimed,
  decide,
  type Grant,
  type Granted,
  type GrantRequest,
  type Handover,
  type Holder,
  type Outcome,
  type ProofOfEnd,
  type ReadGrant,
} from "../grant/index.ts";
import { canonicalJson } from "./canonical-json.ts";

/** Who changes a run grant, and in what write. */
export interface GrantWriter {
  /** The node whose agent writes. */
  readonly node: string;
  /** Whether the VMI is on that node, so that the Pod that was granted is, too. */
  readonly isHere: boolean;
  /** Whether the VMI has ended after the write. */
  readonly isFinal: boolean;
}

/**
 * Whether the agent of a node may change a run grant like this. Only steps that the rules of the grant know are allowed,
 * and only to the agent that has the evidence for them:
 *
 * - `Granted` is claimed by the agent of the node that the VMI is on, for itself.
 * - `Claimed` is ended by the holder's agent.
 * - Of a handover, the source's agent publishes the decision, and the target's agent claims for the target. The target's
 *   agent also ends a handover in which both sides were lost, and fails the VMI in the same write.
 *
 * The evidence itself is not in the write: an agent is trusted about its own node, and about no other.
 */
export function mayChangeGrant(before: ReadGrant, after: ReadGrant, writer: GrantWriter): boolean {
  const written = canonicalJson(after);
  if (canonicalJson(before) === written) return true;
  if (before.state === "Invalid") return false;
  return stepsOf(before, after, writer).some((request) => {
    const verdict = decide(before, request);
    return "grant" in verdict && canonicalJson(verdict.grant) === written;
  });
}

function stepsOf(grant: Grant, after: ReadGrant, writer: GrantWriter): readonly GrantRequest[] {
  switch (grant.state) {
    case "Granted":
      return claims(grant, after, writer);
    case "Claimed":
      return grant.holder.node === writer.node ? [end(grant, [grant.holder])] : [];
    case "HandingOver":
    case "Released":
    case "Committed":
      return [
        ...(grant.holder.node === writer.node ? decisions(grant) : []),
        ...(grant.target.node === writer.node ? arrivals(grant, writer) : []),
      ];
    default:
      return [];
  }
}

function claims(_: Granted, after: ReadGrant, writer: GrantWriter): readonly GrantRequest[] {
  const isOwn = after.state === "Claimed" && after.holder.node === writer.node;
  return isOwn && writer.isHere ? [{ kind: "claim", holder: after.holder }] : [];
}

const outcomes: readonly Outcome[] = ["released", "aborted", "committed", "returned"];

function decisions({ migrationUID }: Handover): readonly GrantRequest[] {
  return outcomes.map((outcome) => ({ kind: "decided", decision: { migrationUID, outcome } }));
}

function arrivals(grant: Handover, { isFinal }: GrantWriter): readonly GrantRequest[] {
  const { target: holder, migrationUID } = grant;
  return [
    // The release may have come directly, without the grant.
    { kind: "claim", holder, evidence: { migrationUID, outcome: "released" } },
    { kind: "claim", holder, evidence: "postCopyComplete" },
    ...(isFinal ? [end(grant, [grant.holder, holder])] : []),
  ];
}

/** The end of incarnations, as if it were proven: the writer has the proofs. */
function end({ vmiUID }: Claimed | Handover, holders: readonly Holder[]): GrantRequest {
  const proofs = holders.map(({ containerID, bootID }): ProofOfEnd => {
    return { kind: "processGone", containerID, bootID, seen: "pidfd" };
  });
  return { kind: "end", vmiUID, proofs };
}
