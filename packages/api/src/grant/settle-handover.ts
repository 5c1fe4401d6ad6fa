import type { DecisionRecord, SettleRequest } from "./decision.ts";
import type { Must } from "./guards.ts";
import { type Refused, refuse } from "./refusal.ts";

/** What the source's agent may write to disk. */
export function settleWith(
  record: DecisionRecord | undefined,
  request: SettleRequest,
  must: Must,
): { readonly record: DecisionRecord } | Refused {
  const { migrationUID, outcome } = request;
  const isBegun = record?.migrationUID === migrationUID;
  // Without its record an agent may only abort, and only if the source runs.
  const isWayBack = request.outcome === "aborted" && request.sourceRuns;
  if (!must("begun-here", isBegun || isWayBack)) {
    return refuse(
      "begun-here",
      `nothing on this disk says that migration ${migrationUID} began here`,
      "find out on which node the guest runs; if it runs nowhere, delete both launcher Pods",
    );
  }
  const before = record?.outcome;
  if (before === outcome && record) return { record };
  // A commit ends on its own if post-copy runs; if QEMU never switched, pre-copy continues or goes back.
  const isFirst = before === undefined || (before === "committed" && outcome !== "aborted");
  if (!must("first-decision", isFirst)) {
    return refuse("first-decision", `the migration ${migrationUID} was already ${before}`);
  }
  return missingEvidence(request, must) ?? { record: { migrationUID, outcome } };
}

function missingEvidence(request: SettleRequest, must: Must): Refused | undefined {
  switch (request.outcome) {
    case "released":
      if (!must("perform-answered", request.perform === "ok")) {
        return refuse("perform-answered", "perform did not succeed; abort");
      }
      return must("finish-answered", request.finish === "ok")
        ? undefined
        : refuse("finish-answered", "finish did not succeed; abort");
    case "returned":
      return must("never-switched", request.neverSwitched)
        ? undefined
        : refuse("never-switched", "the source is, or was, in post-copy");
    default:
      return undefined;
  }
}
