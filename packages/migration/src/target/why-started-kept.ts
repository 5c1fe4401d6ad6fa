import type { CopyState } from "../copy/copy-state.ts";

/** What {@link whyStartedKept} judges by. */
interface Known {
  /** Whether the run grant commits this handover, to this target. */
  readonly isCommitted: boolean;
  /** Why the grant and the proofs keep it; undefined if the source is proven to have ended. */
  readonly kept: string | undefined;
}

const cold = "once both copies are proven to have ended, the VM starts cold";

/**
 * Why a copy that has begun to run in post-copy, and is not known to be complete, may not be destroyed; undefined if it
 * may: then its stream is broken, and the source, which had the rest of its memory, is proven to have ended.
 */
export function whyStartedKept(
  { reason }: CopyState,
  { isCommitted, kept }: Known,
): string | undefined {
  if (!isCommitted) {
    return "it has begun to run in post-copy, but the run grant does not commit this handover: find out where the guest runs, and end this launcher Pod if it is not here";
  }
  if (reason === "postcopyFailed") {
    return (
      kept &&
      `it lacks memory that its source has: the source must recover the post-copy; if that cannot be done, end both launcher Pods: ${cold}`
    );
  }
  if (reason === "postcopy") {
    if (kept) return "it has begun to run, and its memory arrives";
    return `its source has ended, and QEMU has not given up the stream: it is claimed if it is complete, and ended if it is not; if it stays like this, end this launcher Pod: ${cold}`;
  }
  return `it has begun to run in post-copy and was paused, and its QEMU does not say that it is complete: ${
    kept ? "it is claimed once it is" : `if it stays like this, end this launcher Pod: ${cold}`
  }`;
}
