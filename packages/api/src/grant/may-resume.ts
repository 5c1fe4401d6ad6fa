import type { Decision, DecisionRecord } from "./decision.ts";
import { type Holder, isSameHolder, type ReadGrant } from "./grant.ts";
import type { Must } from "./guards.ts";
import { type Refused, refuse } from "./refusal.ts";

/** A copy that somebody wants to resume. */
export type ResumeRequest =
  | {
      readonly as: "target";
      readonly migrationUID: string;
      /** A release over the control channel, or the grant's. */
      readonly release: Decision | undefined;
    }
  | {
      readonly as: "source";
      readonly holder: Holder;
      /** What the disk says about the last migration that this copy was the source of. */
      readonly record: DecisionRecord | undefined;
      /** A live read of the grant, if there is one. */
      readonly grant: ReadGrant | undefined;
    };

/** Why a paused copy may not continue. */
export function mayResumeWith(request: ResumeRequest, must: Must): Refused | undefined {
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
    : refuse("resume-own-release", `the release belongs to migration ${release.migrationUID}`);
}

/** Why a migration may not switch to post-copy. */
export function maySwitchWith(
  record: DecisionRecord | undefined,
  grant: ReadGrant,
  must: Must,
): Refused | undefined {
  if (!must("commit-before-switch", record?.outcome === "committed")) {
    return refuse("commit-before-switch", "the decision to commit is not on disk");
  }
  const isKnown = grant.state === "Committed" && grant.migrationUID === record?.migrationUID;
  return must("commit-known", isKnown)
    ? undefined
    : refuse("commit-known", "the grant does not say that the migration is committed");
}
