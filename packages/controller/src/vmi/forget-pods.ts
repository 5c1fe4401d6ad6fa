import { freeGrant, type ReadGrant } from "@virtkit/api/grant";
import type { Names } from "@virtkit/api/names";
import { launcherContainers } from "@virtkit/api/proofs";
import type { PlanDraft } from "../plan/plan-draft.ts";
import { podResource } from "../plan/resources.ts";
import type { PodObject } from "./cluster-objects.ts";
import type { GrantView } from "./grant-view.ts";
import { evidenceOf, incarnationsOf } from "./incarnations.ts";
import { controllerOf } from "./own-pods.ts";
import { isBeingDeleted, isGoingDown } from "./pod-state.ts";
import { podName } from "./pod-writes.ts";
import { grantRules } from "./run-grant.ts";

/** The Pods to be forgotten, and by which grant. */
export interface Forgetting {
  readonly view: GrantView;
  readonly names: Names;
  /** What keeps a Pod until its end is proven. */
  readonly finalizers: readonly string[];
  /** The VMI whose grant it is; Pods of another one are of a VMI that is gone. */
  readonly vmiUid: string | undefined;
  readonly grant: ReadGrant | undefined;
}

/**
 * Lets go of Pods whose end is proven, and whose proof nobody needs any more. Answers whether there are
 * such Pods that a cache must not decide about.
 */
export function forgetPods(forgetting: Forgetting, draft: PlanDraft): boolean {
  const { view, finalizers } = forgetting;
  const held = view.pods.filter(
    (pod) =>
      isGoingDown(pod) && pod.metadata?.finalizers?.some((each) => finalizers.includes(each)),
  );
  const ended = held.filter((each) => mayBeForgotten(each, forgetting));
  if (!view.isLive) return ended.length > 0;
  for (const pod of ended) {
    const before = pod.metadata?.finalizers ?? [];
    const path = "/metadata/finalizers";
    // A refusal is found by the next pass, for the Pod is still there then.
    draft.write({
      kind: "patch",
      resource: podResource,
      object: podName(pod),
      operations: [
        { op: "test", path: "/metadata/uid", value: pod.metadata?.uid },
        { op: "test", path, value: before },
        { op: "replace", path, value: before.filter((each) => !finalizers.includes(each)) },
      ],
    });
  }
  return false;
}

function mayBeForgotten(pod: PodObject, { view, names, vmiUid, grant: own }: Forgetting): boolean {
  const isOwn = vmiUid !== undefined && controllerOf(pod.metadata)?.uid === vmiUid;
  const grant = isOwn ? own : undefined;
  if (grant && wasNeverGranted(grant)) return true;
  if (grant && hadOneHolder(grant) && isDeletedUnreported(pod)) return true;
  const proofs = evidenceOf(view, names);
  const { mayForget } = view.rules ?? grantRules;
  return incarnationsOf(pod, grant, view).every(
    (holder) => mayForget({ holder, proofs, grant }) === undefined,
  );
}

/**
 * A grant that ended before any Pod got it: no guest of this VMI ever ran, and none can claim any more. The kubelet has
 * no container to report on if a Pod's image could not be pulled, so that nothing else would ever let it go.
 */
function wasNeverGranted(grant: ReadGrant): boolean {
  // Each change of a grant raises its number: the only one that there was is the end.
  return grant.state === "Ended" && grant.seq === freeGrant.seq + 1;
}

/** The kubelet starts no container of a Pod that is being deleted. */
function isDeletedUnreported(pod: PodObject): boolean {
  return isBeingDeleted(pod) && launcherContainers(pod).length === 0;
}

/**
 * A grant that ended and was never handed over: at most one incarnation has claimed it, whose end was proven, and none can
 * claim any more. After its node has booted anew, the kubelet may have no container of a Pod to report on, so that nothing
 * else would ever let it go.
 */
function hadOneHolder(grant: ReadGrant): boolean {
  // Granted, claimed, ended; a handover would have raised the number further.
  return grant.state === "Ended" && grant.seq <= freeGrant.seq + 3;
}
