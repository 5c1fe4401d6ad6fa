import { decodeGrant, grantAnnotation } from "@virtkit/api/grant";
import type { Names } from "@virtkit/api/names";
import { entry, text } from "@virtkit/api/shape";
import type { PodObject } from "./cluster-objects.ts";
import { namesPod } from "./incarnations.ts";
import { podsOf } from "./own-pods.ts";
import { isBeingDeleted, isDown } from "./pod-state.ts";
import type { VmiView } from "./vmi-view.ts";

/** The target Pods of a VMI that are up, have no part in its run grant, and whose migrations are not in the view. */
export function unknownTargets(
  view: Pick<VmiView, "vmi" | "pods" | "migrations">,
  names: Names,
): readonly PodObject[] {
  const { metadata } = view.vmi ?? {};
  const grant = decodeGrant(
    entry(metadata?.annotations, names.own(grantAnnotation)),
    text(metadata?.uid),
  );
  const known = new Set(view.migrations.map((each) => each.metadata?.uid));
  return podsOf(view).filter((pod) => {
    const migration = pod.metadata?.labels?.[names.labels.migrationJobUid];
    if (migration === undefined || known.has(migration)) return false;
    return !isDown(pod) && !isBeingDeleted(pod) && !namesPod(grant, pod);
  });
}
