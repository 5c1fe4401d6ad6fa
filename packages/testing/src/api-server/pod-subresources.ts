import type { KubeObject } from "@virtkit/kube";
import { deleteObject } from "./delete-object.ts";
import type { AnyObject, Kind } from "./kind.ts";
import { type LabelSelector, matchesSelector } from "./selectors.ts";
import type { ServerState } from "./server-state.ts";
import { conflict, statusError } from "./status-error.ts";

/** Gives a Pod to a node, once. */
export function bindPod(
  server: ServerState,
  kind: Kind,
  pod: AnyObject,
  binding: KubeObject,
): AnyObject {
  const { name = "", uid } = pod.metadata;
  const node = String(Object(Object(binding).target).name ?? "");
  const wanted = binding.metadata.uid;
  if (wanted && wanted !== uid) throw conflict("pods/binding", name, `its uid is ${uid}`);
  const assigned = pod.spec?.["nodeName"];
  if (pod.metadata.deletionTimestamp) throw conflict("pods/binding", name, "it is being deleted");
  if (assigned) throw conflict("pods/binding", name, `it is already assigned to node ${assigned}`);
  const conditions = listOf(pod.status?.["conditions"]).filter(
    (each) => Object(each).type !== "PodScheduled",
  );
  const scheduled = {
    type: "PodScheduled",
    status: "True",
    lastTransitionTime: server.timestamp(),
  };
  return server.store(
    kind,
    {
      ...pod,
      spec: { ...pod.spec, nodeName: node },
      status: { ...pod.status, conditions: [...conditions, scheduled] },
    },
    pod,
  );
}

/** Deletes a Pod unless a PodDisruptionBudget forbids it, which is answered with 429. */
export function evictPod(
  server: ServerState,
  kind: Kind,
  pod: AnyObject,
  eviction: KubeObject,
): AnyObject {
  const { namespace, name = "" } = pod.metadata;
  const phase = pod.status?.["phase"];
  const ended = phase === "Succeeded" || phase === "Failed" || phase === "Pending";
  const budgets = server.kinds.find(({ resource }) => resource.plural === "poddisruptionbudgets");
  const own = (budgets ? server.table(budgets).list() : []).filter(
    (budget: AnyObject) =>
      budget.metadata.namespace === namespace &&
      matchesSelector((budget.spec?.["selector"] ?? {}) as LabelSelector, pod.metadata.labels),
  ) as readonly AnyObject[];
  if (own.length > 1) {
    const message =
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    throw statusError({ status: 500, reason: "InternalError", message });
  }
  const [budget] = own;
  if (budget && !ended && !pod.metadata.deletionTimestamp && disruptionsAllowed(budget) < 1) {
    const reason = "TooManyRequests";
    throw statusError({
      ...{ status: 429, reason },
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      causes: [
        { reason: "DisruptionBudget", message: `the budget ${budget.metadata.name} allows none` },
      ],
    });
  }
  const options = Object(Object(eviction).deleteOptions);
  deleteObject(server, kind, pod, options);
  const status = { apiVersion: "v1", kind: "Status", metadata: { name }, status: "Success" };
  return status as unknown as AnyObject;
}

function disruptionsAllowed({ status }: AnyObject): number {
  const allowed = status?.["disruptionsAllowed"];
  return typeof allowed === "number" ? allowed : 0;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
