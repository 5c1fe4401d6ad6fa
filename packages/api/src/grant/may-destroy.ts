import type { DecisionRecord } from "./decision.ts";
import { type Handover, type Holder, isSameHolder, type ReadGrant } from "./grant.ts";
import type { Must } from "./guards.ts";
import { type ProofOfEnd, provenEnd } from "./proof-of-end.ts";
import { nameOf, type Refused, refuse } from "./refusal.ts";
import type { EarlierHolder } from "./request.ts";

/** A copy that somebody wants to destroy. */
export interface DestroyRequest {
  readonly holder: Holder;
  /** The grant as it was read; undefined if the VMI is gone or another one has its name. */
  readonly grant: ReadGrant | undefined;
  readonly live: boolean;
  /** Whether this copy has resumed or has a release: then nothing that is read destroys it. */
  readonly released: boolean;
  /** Evidence that the other side of a handover has ended. */
  readonly proofs: readonly ProofOfEnd[];
  /** What the disk says about the migration that this copy is the source of. */
  readonly record?: DecisionRecord | undefined;
  /** Whether the target has said that it has the release on its disk, or that it runs. */
  readonly acknowledged?: boolean | undefined;
  /** A controller deletes a Pod and cannot know what the copy in it knows; an agent can. */
  readonly by: "agent" | "controller";
  /** Whether the VMI is being deleted: then its holder must end, too. */
  readonly ending?: boolean | undefined;
}

/** A Pod that should lose its finalizer, and that the VM should forget. */
export interface ForgetRequest extends EarlierHolder {
  /** The grant from a live read; undefined if the Pod's VMI is gone. */
  readonly grant: ReadGrant | undefined;
}

/** Why a copy may not be destroyed. */
export function mayDestroyWith(request: DestroyRequest, must: Must): Refused | undefined {
  const { holder, grant, live, acknowledged, record, ending } = request;
  // The source's own disk says that it never runs again; that does not need the API server.
  if (record?.outcome === "released" && acknowledged) return undefined;
  if (!must("destroy-live-read", live)) {
    return refuse("destroy-live-read", "the grant was read from a cache");
  }
  if (grant === undefined) return undefined;
  const isHandover = "target" in grant;
  const isSource = isHandover && isSameHolder(grant.holder, holder);
  const isSide = isSource || (isHandover && isSameHolder(grant.target, holder));
  if (isSide && !must("handover-stays", request.by === "agent")) {
    return refuse("handover-stays", "a handover is in progress; ask for an abort");
  }
  if (isSource) return mayEndSource(grant, record, must);
  if (ending && !isSide && grant.state !== "Invalid") return undefined;
  return must("destroy-unnamed", isLeftOver(grant, request, must))
    ? undefined
    : refuse("destroy-unnamed", "the grant names it");
}

function mayEndSource(
  grant: Handover,
  record: DecisionRecord | undefined,
  must: Must,
): Refused | undefined {
  const isKnown = grant.state === "Released";
  if (record?.outcome !== "released" || record.migrationUID !== grant.migrationUID) {
    return isKnown ? undefined : refuse("destroy-unnamed", "it is the source of a handover");
  }
  return must("release-known", isKnown)
    ? undefined
    : refuse("release-known", "neither the grant nor the target has the release");
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
      // Without its source and without a release, a target never becomes complete.
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

/** Why a Pod may not be forgotten. */
export function mayForgetWith(
  { holder, proofs, grant }: ForgetRequest,
  must: Must,
): Refused | undefined {
  if (!provenEnd(proofs, holder, must).proven) {
    return refuse("holder-ended", `${nameOf(holder)} is not proven to have ended`);
  }
  return must("forget-unnamed", grant === undefined || !isNamed(grant, holder))
    ? undefined
    : refuse("forget-unnamed", "the grant names it, and the proof would be lost with the Pod");
}

function isNamed(grant: ReadGrant, holder: Holder): boolean {
  // A claim of a granted Pod may be in flight, and land late.
  if (grant.state === "Granted") return grant.podUID === holder.podUID;
  const named = "holder" in grant ? [grant.holder] : [];
  if ("target" in grant) named.push(grant.target);
  return named.some((each) => isSameHolder(each, holder));
}
