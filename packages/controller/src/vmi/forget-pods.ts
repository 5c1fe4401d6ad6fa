import { freeGrant, type ReadGrant } from "@virtkit/api/grant";
import type { Names } from "@virtkit/api/names";
import { launcherContainers } from "@virtkit/api/proofs";
import type { PlanDraft } from "../plan/plan-draft.ts";
import { podResource } from "../plan/resources.ts";
import type { PodObject } from "./cluster-objects.ts";
import type { GrantView } from "./grant-view.ts";
import { evidenceOf, incarnationsOf, namesPod } from "./incarnations.ts";
import { controllerOf } from "./own-pods.ts";
import { isBeingDeleted, isDown, isGoingDown } from "./pod-state.ts";
import { podName } from "./pod-writes.ts";
import { grantRules } from "./run-grant.ts";

/** The Pods to forget, and by which grant. */
export interface Forgetting {
  readonly view: GrantView;
  readonly names: Names;
  /** The finalizer that keeps a Pod until its end is proven. */
  readonly finalizers: readonly string[];
  /** The VMI that the grant belongs to; other Pods belong to a VMI that is gone. */
  readonly vmiUid: string | undefined;
  readonly grant: ReadGrant | undefined;
}

/**
 * Releases Pods whose end is proven and whose proof nobody needs any more. Returns whether there
 * are such Pods that must not be decided about from a cache.
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
    // The next pass finds a refusal, because the Pod still exists then.
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

function mayBeForgotten(pod: PodObject, { view, vmiUid, grant: own }: Forgetting): boolean {
  const isOwn = vmiUid !== undefined && controllerOf(pod.metadata)?.uid === vmiUid;
  const grant = isOwn ? own : undefined;
  if (grant && wasNeverGranted(grant)) return true;
  if (grant && isDeletedUnreported(pod)) {
    if (hadOneHolder(grant) || (isDown(pod) && isUnnamed(pod, grant))) return true;
  }
  const proofs = evidenceOf(view);
  const { mayForget } = view.rules ?? grantRules;
  return incarnationsOf(pod, grant, view).every(
    (holder) => mayForget({ holder, proofs, grant }) === undefined,
  );
}

/**
 * A grant that ended before any Pod got it: no guest of this VMI ever ran, and none can claim any
 * more. If a Pod's image could not be pulled, the kubelet has no container to report on, so nothing
 * else would ever release the Pod.
 */
function wasNeverGranted(grant: ReadGrant): boolean {
  // Each change of a grant raises its number, so its only change was the end.
  return grant.state === "Ended" && grant.seq === freeGrant.seq + 1;
}

/** The kubelet starts no container of a Pod that is being deleted. */
function isDeletedUnreported(pod: PodObject): boolean {
  return isBeingDeleted(pod) && launcherContainers(pod).length === 0;
}

/**
 * Whether the Pod has no part in the grant. To claim, a launcher must be named by the grant, and reported by its kubelet; a
 * grant goes from one launcher to another only if the first has released it or is proven to have ended. So nothing runs in
 * a Pod that is not named, and whose kubelet says that it has ended without ever having had a container. A kubelet that
 * rejects a target, for example because a device plug-in is restarting, never says more.
 */
function isUnnamed(pod: PodObject, grant: ReadGrant): boolean {
  return grant.state !== "Invalid" && !namesPod(grant, pod);
}

/**
 * A grant that ended and was never handed over: at most one incarnation has claimed it, whose end
 * was proven, and none can claim any more. After its node has rebooted, the kubelet may have no
 * container of a Pod to report on, so nothing else would ever release the Pod.
 */
function hadOneHolder(grant: ReadGrant): boolean {
  // Granted, claimed, ended; a handover would have raised the number further.
  return grant.state === "Ended" && grant.seq <= freeGrant.seq + 3;
}
