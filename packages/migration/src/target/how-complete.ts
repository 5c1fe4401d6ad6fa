import { isSameHolder, type ReadGrant } from "@virtkit/api/grant";
import { type CopyState, isAlive } from "../copy/copy-state.ts";
import { streamState } from "../copy/stream-state.ts";
import { isHandedTo, mayHaveRun, targetState } from "./receive-copy.ts";
import type { TargetParts } from "./receive-parts.ts";

/** What {@link howComplete} judges by. */
interface Found {
  readonly copy: CopyState;
  readonly grant: ReadGrant;
  /** Whether the source may still send what the copy lacks. */
  readonly isSourceAwaited: boolean;
}

/**
 * The evidence with which a copy without a release is claimed: it needs its source no more. Post-copy completes without us.
 * Undefined if it is not complete, or not known to be. libvirt does not say it of a copy that ran in post-copy and was
 * paused, for example by its user. Then QEMU is asked.
 */
export async function howComplete(
  parts: TargetParts,
  { copy, grant, isSourceAwaited }: Found,
): Promise<"postCopyComplete" | "claimed" | undefined> {
  const isOurs = grant.state === "Claimed" && isSameHolder(grant.holder, parts.grant.holder);
  if (isOurs && isAlive(copy)) return "claimed";
  const isCommitted = isHandedTo(parts, grant, "Committed");
  if (targetState(copy) === "whole") {
    // Anything else that runs has claimed before, or the claim is rejected.
    return grant.state === "Committed" ? "postCopyComplete" : "claimed";
  }
  if (!isCommitted || !mayHaveRun(parts, copy) || copy.reason === "postcopy") return undefined;
  // Its monitor is not to be disturbed while it may be recovered.
  if (copy.reason === "postcopyFailed" && isSourceAwaited) return undefined;
  const isComplete = (await streamState(parts, copy.dom)) === "completed";
  return isComplete ? "postCopyComplete" : undefined;
}
