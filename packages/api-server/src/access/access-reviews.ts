import { describeError, type Observers } from "@virtkit/api/observe";
import { at } from "@virtkit/api/shape";
import type { AccessReviewSpec } from "@virtkit/api/subresources/server";
import type { KubeClient, KubeObject } from "@virtkit/kube";
import { otherResources } from "../resources.ts";

/** Whether the cluster allows it. */
export interface AccessAnswer {
  readonly allowed: boolean;
  /** Why not, for the client. */
  readonly reason: string;
}

/**
 * Asks the cluster's authoriser. Only a plain yes allows the request: an answer that fails, is late, reports an
 * evaluation error, or also denies, is a no.
 */
export async function askForAccess(
  client: KubeClient,
  spec: AccessReviewSpec,
  { signal, log }: Observers & { readonly signal?: AbortSignal | undefined },
): Promise<AccessAnswer> {
  try {
    const review = { metadata: {}, spec } as unknown as KubeObject;
    const answer = await client.create(otherResources.accessReviews, review, { signal });
    const status = at(answer, "status");
    const allowed = at(status, "allowed") === true && at(status, "denied") !== true;
    const reason = at(status, "reason");
    return { allowed, reason: typeof reason === "string" ? reason.slice(0, 500) : "" };
  } catch (error) {
    log?.error({ error: describeError(error) }, "the access review failed");
    return { allowed: false, reason: "could not check who may do this; try again" };
  }
}
