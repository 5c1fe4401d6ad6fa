import type { Stage } from "./stage.ts";

/** What an object shows about one stage. */
export interface Evidence {
  readonly state: "done" | "waiting" | "failed";
  /** When, according to the object. */
  readonly at?: string;
  /** Why it waits or has failed, in a sentence. */
  readonly reason?: string;
}

/** What is known about the stages; a missing one has left no trace. */
export type EvidenceByStage = Partial<Record<Stage, Evidence>>;

/** It happened; `at` only if the object says when. */
export function done(at?: unknown): Evidence {
  return typeof at === "string" && at !== "" ? { state: "done", at } : { state: "done" };
}

/** It has not happened. */
export function waiting(reason?: string, at?: unknown): Evidence {
  return {
    state: "waiting",
    ...(typeof at === "string" && at !== "" ? { at } : {}),
    ...(reason ? { reason } : {}),
  };
}

/** It failed permanently. */
export function failed(reason?: string, at?: unknown): Evidence {
  return { ...waiting(reason, at), state: "failed" };
}

/**
 * The combined evidence of several witnesses, the most reliable first. What has failed stays failed; otherwise
 * a witness that saw it happen outweighs those that did not. A time or a reason from another witness of the
 * same state completes the picture.
 */
export function strongest(...witnesses: readonly (Evidence | undefined)[]): Evidence | undefined {
  const found = witnesses.filter((evidence) => evidence !== undefined);
  const best =
    found.find(({ state }) => state === "failed") ??
    found.find(({ state }) => state === "done") ??
    found[0];
  if (!best) return undefined;
  const same = found.filter(({ state }) => state === best.state);
  const at = same.find((evidence) => evidence.at !== undefined)?.at;
  const reason = same.find((evidence) => evidence.reason !== undefined)?.reason;
  return {
    state: best.state,
    ...(at === undefined ? {} : { at }),
    ...(reason === undefined ? {} : { reason }),
  };
}
