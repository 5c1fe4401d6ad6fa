import { isKubeError } from "../client/kube-error.ts";
import type { ReconcileResult } from "./reconciler.ts";
import { isTerminal } from "./terminal-error.ts";

/** How a reconcile ended. */
export type ReconcileOutcome =
  | { readonly state: "returned"; readonly result: ReconcileResult | undefined }
  | { readonly state: "threw"; readonly error: unknown }
  /** The controller stops: whatever it threw is due to that. */
  | { readonly state: "stopped" };

/** What becomes of a key after a reconcile. `result` is the label of the metrics. */
export type Requeue =
  | { readonly result: "success" | "terminal" | "stopped" }
  | { readonly result: "requeue_after"; readonly after: number }
  | { readonly result: "error"; readonly atLeast: number };

/** Decides what becomes of a key. */
export function planRequeue(outcome: ReconcileOutcome): Requeue {
  switch (outcome.state) {
    case "stopped":
      return { result: "stopped" };
    case "returned": {
      const after = outcome.result?.requeueAfter ?? 0;
      return after > 0 ? { result: "requeue_after", after } : { result: "success" };
    }
    case "threw": {
      const { error } = outcome;
      if (isTerminal(error)) return { result: "terminal" };
      const seconds = isKubeError(error) ? (error.retryAfterSeconds ?? 0) : 0;
      return { result: "error", atLeast: seconds * 1_000 };
    }
  }
}
