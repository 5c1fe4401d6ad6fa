import { isKubeError, isNotFound, type KubeObject } from "@virtkit/kube";
import type { PlannedWrite } from "./plan.ts";

/** Why a write did not happen, or why nobody knows whether it did. */
export interface Refusal {
  /** Kubernetes's reason, such as `AlreadyExists`; `Unknown` if there was no answer. */
  readonly reason: string;
  readonly message: string;
}

/** The outcome of one write. */
export type WriteOutcome =
  | { readonly kind: "done"; readonly object?: KubeObject | undefined }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** The outcome of a write that failed. Deleting a missing object counts as done. */
export function failedWrite(write: PlannedWrite, error: unknown): WriteOutcome {
  if (write.kind === "delete" && isNotFound(error)) return { kind: "done" };
  if (!isKubeError(error)) throw error;
  const { reason = "Unknown", message } = error;
  return { kind: "refused", refusal: { reason, message } };
}
